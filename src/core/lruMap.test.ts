import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LruMap } from './lruMap';

const command = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key: fc.nat(6) }),
  fc.record({ do: fc.constant('get' as const), key: fc.nat(6) }),
  fc.record({ do: fc.constant('delete' as const), key: fc.nat(6) }),
);

it('a full cache (LRU map) drops the entry that was set or read longest ago', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (commands, max) => {
      const map = new LruMap<number, number>(max);
      let used: number[] = [];
      for (const [at, { do: what, key }] of commands.entries()) {
        const isThere = used.includes(key);
        expect(map.has(key)).toBe(isThere);
        if (what === 'get') expect(map.get(key) !== undefined).toBe(isThere);
        else if (what === 'set') map.set(key, at);
        else map.delete(key);
        used = used.filter((other) => other !== key);
        if (what === 'set' || (what === 'get' && isThere)) used = [...used, key].slice(-max);
        expect(map.size).toBe(used.length);
      }
    }),
  );
});
