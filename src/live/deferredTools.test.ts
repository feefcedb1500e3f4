import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { assistant, call, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import type { ApiMessage, Block } from '../core/messages/types';
import { findVisibleTools } from './deferredTools';
import { createTestBed, makeRead, makeReads, createRequest, createModel, makeUsage } from './testing';

const schema = (words: number) => ({ type: 'object', description: 'What it takes. '.repeat(words) });
const READ = { name: 'Read', input_schema: schema(10) };
const anthropic = (name: string) => ({ name, input_schema: schema(100), defer_loading: true });
const MCP = Array.from({ length: 60 }, (_, index) => anthropic(`mcp__issues__do_${index}`));
const reference = (name: string) => ({ type: 'tool_reference', tool_name: name });

const found = (block: Block): ApiMessage[] => [user('go'), { role: 'user', content: [block] }];
const result = (content: readonly Block[]): Block => ({ type: 'tool_result', tool_use_id: 'a', content });

describe('a deferred tool, for which the model must search first,', () => {
  it('is not visible before it was found', () => {
    const tools = [READ, ...MCP];
    expect(findVisibleTools(tools, [user('go')])).toEqual({ loaded: [READ], upFront: [READ] });
  });

  it.each([
    ["an agent's own search", result([reference('mcp__issues__do_7')])],
    [
      "the vendor's search",
      {
        type: 'tool_search_tool_result',
        tool_use_id: 's',
        content: { type: 'tool_search_tool_search_result', tool_references: [reference('mcp__issues__do_7')] },
      },
    ],
    ['a block of its own', reference('mcp__issues__do_7')],
  ])('is visible after it was found by %s', (_how, block) => {
    expect(findVisibleTools([READ, ...MCP], found(block))).toEqual({ loaded: [READ, MCP[7]], upFront: [READ] });
  });

  it('is described to the model in the Responses API, either itself or by its namespace', () => {
    const search = { type: 'tool_search' };
    const own = { type: 'function', name: 'a', description: 'Does a.', parameters: schema(9), defer_loading: true };
    const plain = { type: 'function', name: 'b', description: 'Does b.', parameters: schema(9) };
    const crm = { type: 'namespace', name: 'crm', description: 'Customers.', tools: [plain, { ...own, name: 'c' }] };
    const told = [search, { type: 'function', name: 'a', description: 'Does a.' }, { ...crm, tools: [plain] }];
    expect(findVisibleTools([search, own, crm], [user('go')]).loaded).toEqual(told);
    expect(findVisibleTools([search, own, crm], [user('go')]).upFront).toEqual([search, { ...crm, tools: [plain] }]);
    // Codex declares tools in an item of the conversation.
    const more = { type: 'additional_tools', tools: [search, own, crm] };
    expect(findVisibleTools([more], [user('go')]).loaded).toEqual([{ ...more, tools: told }]);
  });

  it('is not described on Chat Completions', () => {
    const chat = { type: 'function', function: { name: 'a', parameters: schema(9) }, defer_loading: true };
    expect(findVisibleTools([chat], [user('go')]).loaded).toEqual([]);
    expect(findVisibleTools([chat], found(reference('a'))).loaded).toEqual([chat]);
  });

  it('that is absent leaves the list of tools unchanged', () => {
    const tools = [READ, { functionDeclarations: [{ name: 'c' }] }];
    expect(findVisibleTools(tools, [user('go')]).loaded).toBe(tools);
  });
});

describe('tokens in a conversation with deferred tools', () => {
  it('include the tools that are visible to the model', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const counter = createCounter();
      const prepared = (
        tools: readonly unknown[],
        conversationId: string,
        messages: readonly ApiMessage[] = makeReads(2),
      ) => live.prepare(createRequest(messages, { tools, conversationId }));
      const { countedTokens } = await prepared([READ], 'plain');
      expect(await prepared([READ, ...MCP], 'deferred')).toMatchObject({ countedTokens, minReadTokens: countedTokens });
      expect(live.active()?.tools?.map(({ name }) => name)).toEqual(['Read']);
      const search = [
        ...makeReads(2),
        assistant(call('s', 'ToolSearch')),
        user({ ...result([reference('mcp__issues__do_7')]), tool_use_id: 's' }),
      ];
      const without = await prepared([READ], 'none', search);
      const loaded = await prepared([READ, ...MCP], 'found', search);
      const tokens = counter.countJson([READ, MCP[7]]) - counter.countJson([READ]);
      expect(loaded.countedTokens - without.countedTokens).toBe(tokens);
      // A vendor may not load the tools that were found, so nothing about its window is learned
      // from them.
      expect(loaded.minReadTokens).toBe(without.minReadTokens);
    }));

  it('include only the tools that are sent', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const data = Buffer.alloc(20_000, 1).toString('base64');
      const shot = (id: string): ApiMessage[] => [
        assistant(call(id, 'browser_take_screenshot')),
        user({
          ...result([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }]),
          tool_use_id: id,
        }),
      ];
      const messages = [user('go'), ...shot('a'), ...shot('b')];
      const edits = async (tools: readonly unknown[], conversationId: string) => {
        const model = createModel({ contextWindow: 200_000, limits: { bytes: 120_000 } });
        return (await live.prepare(createRequest(messages, { tools, conversationId, model }))).edits.length;
      };
      expect(await edits([READ], 'light')).toBe(0);
      expect(await edits([READ, ...MCP], 'heavy')).toBeGreaterThan(0);
    }));

  it('do not change the learned window if the vendor does not load all of the tools', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const model = createModel({ contextWindow: 200_000 });
      const all = makeReads(4);
      for (let step = 0; step < 6; step++) {
        all.push(...makeRead(`more${step}`, 2));
        const prepared = await live.prepare(createRequest(all, { tools: [READ, ...MCP], model }));
        const whole = createCounter().countMessages(all) + createCounter().countJson([READ, ...MCP]);
        live.recordAnswer(prepared, makeUsage(createCounter().countMessages(all) + createCounter().countJson([READ])));
        expect(prepared.contextWindow).toBe(200_000);
        expect(prepared.countedTokens).toBeLessThan(whole / 2);
      }
      expect(events.filter(({ kind }) => kind === 'problem')).toEqual([]);
    }));

  it('are assumed to be truncated if a server reads fewer than those of visible tools and messages', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      for (const count of [9, 12])
        live.recordAnswer(
          await live.prepare(createRequest(makeReads(count), { tools: [READ, ...MCP.slice(0, 1)] })),
          makeUsage(2_050),
        );
      expect(events.filter(({ kind }) => kind === 'problem')).toHaveLength(1);
    }));
});
