import { describe, expect, it } from 'vitest';
import { getValueAt, replaceValueAt } from './path';

const root = JSON.parse('{"content":[{"input":{"__proto__":"data","constructor":"more"}}],"role":"user"}') as object;

describe('reading the value at a path', () => {
  it('follows keys and indexes', () => {
    expect(getValueAt(root, ['content', 0, 'input', '__proto__'])).toBe('data');
    expect(getValueAt(root, [])).toBe(root);
  });

  it.each([
    [['content', 0, 'input', 'toString']],
    [['role', 'length']],
    [['content', 1]],
    [['nothing', 'below']],
    [['constructor', 'name']],
  ])('finds nothing at %j, since only own properties count', (path) => {
    expect(getValueAt(path[0] === 'nothing' ? { nothing: null } : root, path)).toBeUndefined();
  });
});

describe('setting the value at a path', () => {
  it('copies objects on the path and shares all others', () => {
    const before = { a: { x: '1' }, b: [{ y: '2' }, { z: '3' }] };
    const after = replaceValueAt(before, ['b', 0, 'y'], 'new');
    expect(after).toEqual({ a: { x: '1' }, b: [{ y: 'new' }, { z: '3' }] });
    expect(before.b[0]).toEqual({ y: '2' });
    expect(after.a).toBe(before.a);
    expect(after.b[1]).toBe(before.b[1]);
  });

  it('keeps a parameter named "__proto__" a parameter', () => {
    const after = replaceValueAt(root, ['content', 0, 'input', '__proto__'], 'cut');
    expect(JSON.stringify(after)).toBe(JSON.stringify(root).replace('data', 'cut'));
    expect(Object.getPrototypeOf(getValueAt(after, ['content', 0, 'input']))).toBe(Object.prototype);
  });

  it.each([[['content', 7]], [['content', 'length']], [['role', 0]], [['missing']], [['content', 0, 'toString']]])(
    'rejects %j, because there is no value',
    (path) => {
      expect(() => replaceValueAt(root, path, 'x')).toThrow('no value at');
    },
  );
});
