/** An item without an equivalent block type is kept whole inside a block. */
import { REASONING_BLOCK_TYPE, isRecord } from '../../../core/messages/blocks';
import { pickCallerField } from '../../../core/messages/programs';
import type { ApiMessage, Block, Role } from '../../../core/messages/types';
import type { CodexItem } from './rollout';
import { parseArguments } from '../openai/arguments';
import { type Fields, stringifyValue, convertImageUrl, readList, readRecord, readString } from '../../text/values';

const CODEX_ITEM_TYPE = 'codex_item';

export function convertItemsToMessages(items: readonly CodexItem[], owners?: Map<CodexItem, ApiMessage>): ApiMessage[] {
  const messages: ApiMessage[] = [];
  let openGroup: { readonly kind: 'reply' | 'results'; readonly blocks: Block[] } | undefined;
  const addBlocks = (kind: 'reply' | 'results', item: CodexItem, blocks: readonly Block[]): void => {
    if (openGroup?.kind !== kind) {
      openGroup = { kind, blocks: [] };
      messages.push({ role: kind === 'reply' ? 'assistant' : 'user', content: openGroup.blocks });
    }
    openGroup.blocks.push(...blocks);
    const owner = messages.at(-1);
    if (owner) owners?.set(item, owner);
  };
  // A subagent's report that lies between a call and its result moves after the results.
  let pendingReports: ApiMessage[] = [];
  const addPendingReports = (): void => {
    if (pendingReports.length > 0) openGroup = undefined;
    messages.push(...pendingReports);
    pendingReports = [];
  };
  for (const item of items) {
    if (item['type'] === 'agent_message') {
      // The report has the role `user`, but the user did not write it.
      pendingReports.push({ ...makeMessage(item, 'user'), isMeta: true });
      continue;
    }
    const isResult = isOutputItem(item) || isToolSearchOutput(item);
    if (!isResult) addPendingReports();
    const role = readString(item, 'role');
    if (item['type'] === 'message' && role !== 'assistant') {
      openGroup = undefined;
      const message = makeMessage(item, role === 'developer' || role === 'system' ? 'system' : 'user');
      messages.push(message);
      owners?.set(item, message);
    } else if (isResult) addBlocks('results', item, [convertOutputItem(item)]);
    else addBlocks('reply', item, convertReplyItem(item));
  }
  addPendingReports();
  return messages.filter(({ content }) => content.length > 0);
}

/**
 * Client-side tools' outputs and answers to MCP questions. Server-side tools have their output in
 * the call's item.
 */
const isOutputItem = ({ type }: CodexItem): boolean =>
  /_call_output$|^mcp_approval_response$/.test(stringifyValue(type));

/** Tools that a client-side search found; a search by OpenAI has no id. */
const isToolSearchOutput = (item: CodexItem): boolean =>
  item['type'] === 'tool_search_output' && readString(item, 'call_id') !== undefined;

const makeMessage = (item: CodexItem, role: Role): ApiMessage => ({
  role,
  content: convertContentParts(item['content']),
  ...(item['isSummary'] === true && { isSummary: true }),
});

function convertReplyItem(item: CodexItem): readonly Block[] {
  const id = readString(item, 'call_id');
  switch (item['type']) {
    case 'message':
      return convertContentParts(item['content']);
    case 'reasoning':
      return [{ type: REASONING_BLOCK_TYPE, item }];
    case 'function_call': {
      const rawArguments = readString(item, 'arguments') ?? '';
      const name = readString(item, 'name');
      if (id === undefined || name === undefined) break;
      return [
        { type: 'tool_use', id, name, input: parseArguments(rawArguments), rawArguments, ...pickCallerField(item) },
      ];
    }
    case 'custom_tool_call': {
      const name = readString(item, 'name');
      if (id === undefined || name === undefined) break;
      return [
        {
          type: 'tool_use',
          id,
          name,
          input: { input: stringifyValue(item['input']) },
          openai: EMPTY_CUSTOM_CALL,
          ...pickCallerField(item),
        },
      ];
    }
    case 'tool_search_call':
      if (id === undefined) break;
      return [{ type: 'tool_use', id, name: 'tool_search', input: readRecord(item, 'arguments') ?? {} }];
  }
  const tool = /^(\w+)_call$/.exec(stringifyValue(item['type']))?.[1];
  // Client-side calls (shells, patches, the computer) have an id to which their output refers.
  if (id !== undefined && tool !== undefined) {
    const input = readRecord(item, 'action') ?? readRecord(item, 'operation') ?? {};
    return [{ type: 'tool_use', id, name: tool, input, ...pickCallerField(item) }];
  }
  return [{ type: CODEX_ITEM_TYPE, item }];
}

const EMPTY_CUSTOM_CALL = { id: '', type: 'custom', custom: { name: '', input: '' } };

function convertOutputItem(item: CodexItem): Block {
  const id = readString(item, 'call_id');
  if (id === undefined) return { type: CODEX_ITEM_TYPE, item };
  const output = item['type'] === 'tool_search_output' ? stringifyValue(item['tools']) : item['output'];
  // Some versions stored the output as an object with text and outcome.
  const content = isRecord(output)
    ? (output['content_items'] ?? output['content'] ?? extractScreenshot(output))
    : output;
  const isFailed = isRecord(output) && output['success'] === false;
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: Array.isArray(content) ? convertContentParts(content) : stringifyValue(content ?? output),
    ...(isFailed && { is_error: true }),
    ...pickCallerField(item),
  };
}

function joinPrintedOutput(part: Fields): string | undefined {
  const { stdout, stderr } = part;
  return typeof stdout === 'string'
    ? [stdout, stringifyValue(stderr)].filter((each) => each !== '').join('\n')
    : undefined;
}

const extractScreenshot = (output: Fields): readonly Fields[] | undefined =>
  readString(output, 'image_url') === undefined ? undefined : [output];

function convertContentParts(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return readList({ content }, 'content').flatMap((part): Block[] => {
    if (!isRecord(part)) return [];
    const text = readString(part, 'text') ?? readString(part, 'refusal') ?? joinPrintedOutput(part);
    if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }];
    const url = readString(part, 'image_url');
    if (url !== undefined) return [{ type: 'image', source: convertImageUrl(url) }];
    return [{ type: CODEX_ITEM_TYPE, item: part }];
  });
}
