import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { assistant, call, makeToolExchange, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import { measureToolTokens } from './toolWeights';
import { createTestBed, createRequest } from './testing';

const TOOLS = [
  { name: 'Read', description: 'Reads a file.' },
  { name: 'mcp__github__create_issue', description: 'Creates an issue. '.repeat(40) },
  { name: 'mcp_docs_search', description: 'Searches. '.repeat(10) },
];

describe('the tool definitions of a conversation', () => {
  it('are measured in tokens with their number of calls, the largest first', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const here = [user('go'), ...makeToolExchange('1', 'Read', {}, 'a'), ...makeToolExchange('2', 'Read', {}, 'b')];
      const other = [user('other'), ...makeToolExchange('1', 'mcp_docs_search', {}, 'a')];
      await live.prepare(createRequest(other, { conversationId: 'c2', tools: TOOLS }));
      await live.prepare(createRequest(here.slice(0, 3), { tools: TOOLS }));
      await live.prepare(createRequest(here, { tools: TOOLS }));
      const counter = createCounter();
      expect(live.active()?.tools).toEqual([
        { name: TOOLS[1]!.name, server: 'github', tokens: counter.countJson(TOOLS[1]), calls: 0, callsElsewhere: 0 },
        { name: TOOLS[2]!.name, server: 'docs', tokens: counter.countJson(TOOLS[2]), calls: 0, callsElsewhere: 1 },
        { name: 'Read', tokens: counter.countJson(TOOLS[0]), calls: 2, callsElsewhere: 0 },
      ]);
      // The conversation was rolled back, and has other tools now.
      const edited = [user('go'), assistant(call('9', 'Write')), here[2]!];
      await live.prepare(createRequest(edited, { tools: TOOLS.slice(0, 1) }));
      expect(live.active()?.tools).toMatchObject([{ name: 'Read', calls: 0 }]);
    }));

  it('have their names found in every form of declaration', () => {
    const named = measureToolTokens(
      [
        { type: 'function', function: { name: 'a' } },
        { type: 'function', name: 'b' },
        { type: 'web_search' },
        { functionDeclarations: [{ name: 'c' }, { name: 'd' }] },
      ],
      createCounter(),
    );
    expect(named.map(({ name }) => name)).toEqual(['a', 'b', 'web_search', 'c', 'd']);
  });
});
