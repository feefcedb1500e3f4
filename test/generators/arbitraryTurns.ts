/** The turns of histories. They have no IDs, which are assigned when a history is assembled. */
import fc from 'fast-check';
import type { Block, ToolResultContent } from '../../src/core/messages/types';
import {
  anyText,
  commandOutput,
  confirmation,
  environmentDetails,
  filePath,
  fileSlice,
  listing,
  loneSurrogates,
  prose,
  todoText,
} from './arbitraryTexts';

export interface CallSpec {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly content: ToolResultContent;
  readonly isError: boolean | undefined;
}

export type Turn =
  | { readonly kind: 'talk'; readonly assistant: string | readonly Block[]; readonly user: string | readonly Block[] }
  | {
      readonly kind: 'calls';
      /** Blocks before the calls. */
      readonly lead: readonly Block[];
      readonly calls: readonly CallSpec[];
      /** Blocks after the results. */
      readonly trail: readonly Block[];
      /** True if each call and each result is in its own message, as some agents store them. */
      readonly apart: boolean;
    }
  | { readonly kind: 'xml'; readonly assistant: readonly Block[]; readonly user: readonly Block[] };

const text = (value: string): Block => ({ type: 'text', text: value });

/** One black pixel as PNG. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const image: fc.Arbitrary<Block> = fc.constantFrom<Block>(
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
  { type: 'image', source: { type: 'url', url: 'https://example.invalid/a.png' } },
);

const documentBlock: fc.Arbitrary<Block> = anyText.map((data) => ({
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data },
  title: 'Notes',
  citations: { enabled: true },
}));

/** A block of a type that we don't know. */
const unknownBlock: fc.Arbitrary<Block> = fc.constantFrom<Block>(
  { type: 'container_upload', file_id: 'file_1' },
  { type: 'from_the_future', payload: { deep: ['value', 1, null] }, text: 'not a text block' },
);

const thinking: fc.Arbitrary<Block> = fc.oneof(
  prose.map((value): Block => ({ type: 'thinking', thinking: value, signature: 'c2lnbmF0dXJl' })),
  fc.constant<Block>({ type: 'thinking', thinking: '', signature: 'c2lnbmF0dXJl' }),
  fc.constant<Block>({ type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' }),
);

/** Call and result of a server tool; {@link withServerIds} completes their IDs. */
const serverCall: fc.Arbitrary<readonly Block[]> = fc.constantFrom<readonly Block[]>(
  [
    { type: 'mcp_tool_use', id: 'mcptoolu_', name: 'echo', server_name: 's', input: { param: 'a' } },
    { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_', is_error: false, content: [text('hello')] },
  ],
  [
    { type: 'server_tool_use', id: 'srvtoolu_', name: 'web_search', input: { query: 'x' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_',
      content: [{ type: 'web_search_result', url: 'u' }],
    },
  ],
);

/** True for the call or result of a server tool, which are in the same message. */
export const isServerBlock = (block: Block): boolean => /^(?:server|mcp)_tool_use$|._tool_result$/.test(block.type);

/** Derives the IDs of server tools from the turn's number. */
export const withServerIds = (blocks: readonly Block[], number: number): readonly Block[] =>
  blocks.map((block) => {
    if (!isServerBlock(block)) return block;
    const key = 'id' in block ? 'id' : 'tool_use_id';
    return { ...block, [key]: `${String(block[key])}${number}` };
  });

/** Puts a text into any form that a result's content may have. */
const contentForms = (value: fc.Arbitrary<string>): fc.Arbitrary<ToolResultContent> =>
  fc.oneof(
    { weight: 6, arbitrary: value },
    { weight: 2, arbitrary: value.map((part) => [text(part)]) },
    { weight: 1, arbitrary: fc.tuple(value, image, value).map(([a, picture, b]) => [text(a), picture, text(b)]) },
    { weight: 1, arbitrary: fc.tuple(value, value).map(([a, b]) => [text(a), { type: 'text', text: b, extra: true }]) },
  );

/** Content that can't be condensed. */
const emptyContent = fc.constantFrom<ToolResultContent>(
  undefined,
  '',
  [],
  [{ type: 'tool_reference', tool_name: 'Grep' }],
);

const oddInput: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  anyText.map((value) => ({ nested: { list: [{ value }, value], count: 3, none: null, flag: false } })),
  anyText.map((value) => ({ '': value, 'a.b': { '0': value } })),
  // These keys are valid JSON, but are easily lost when an object is copied.
  anyText.map(
    (value) =>
      JSON.parse(`{"__proto__":${JSON.stringify(value)},"constructor":{"prototype":1}}`) as Record<string, unknown>,
  ),
  loneSurrogates.map((value) => ({ value, [value]: value })),
  fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
);

const makeAnsweredCall = (
  call: fc.Arbitrary<Pick<CallSpec, 'tool' | 'input' | 'content'>>,
  isError: fc.Arbitrary<boolean | undefined> = fc.constantFrom(undefined, undefined, false),
): fc.Arbitrary<CallSpec> => fc.tuple(call, isError).map(([spec, error]) => ({ ...spec, isError: error }));

const readCall = makeAnsweredCall(
  fc.tuple(fileSlice, fc.constantFrom('Read', 'Read', 'read_file')).chain(([slice, tool]) =>
    contentForms(fc.constant(slice.text)).map((content) => ({
      tool,
      input: { file_path: filePath(slice.file), offset: slice.from, limit: 80 },
      content,
    })),
  ),
);

const commandCall = makeAnsweredCall(
  fc.record({
    tool: fc.constantFrom('Bash', 'execute_command'),
    input: fc.constantFrom<Readonly<Record<string, unknown>>>(
      { command: 'npm test' },
      { command: 'npm test', cwd: '/w' },
    ),
    content: contentForms(commandOutput),
  }),
);

const searchCall = makeAnsweredCall(
  fc.record({
    tool: fc.constantFrom('Grep', 'LS', 'list_files'),
    input: fc.constantFrom<Readonly<Record<string, unknown>>>({ pattern: 'handler' }, { path: 'src' }),
    content: contentForms(listing),
  }),
);

const editCall = makeAnsweredCall(
  fc.tuple(fileSlice, confirmation).map(([slice, content]) => ({
    tool: 'Edit',
    input: {
      file_path: filePath(slice.file),
      old_string: slice.text.slice(0, 600),
      new_string: `${slice.text.slice(0, 500)}\n// new`,
    },
    content,
  })),
);

const writeCall = makeAnsweredCall(
  fc.tuple(fileSlice, confirmation).map(([slice, content]) => ({
    tool: 'Write',
    input: { file_path: filePath(slice.file), content: slice.text },
    content,
  })),
);

const planCall = makeAnsweredCall(
  fc.tuple(todoText, confirmation).map(([todos, content]) => ({ tool: 'update_todo_list', input: { todos }, content })),
);

const otherCall = makeAnsweredCall(
  fc.record({
    tool: fc.constantFrom('mcp__tracker__get_issue', 'constructor', 'Task'),
    input: oddInput,
    content: fc.oneof(contentForms(anyText), emptyContent),
  }),
);

/** The API requires that an error's content is text that is not empty. */
const failedCall = makeAnsweredCall(
  fc.record({
    tool: fc.constantFrom('Edit', 'Bash', 'Read'),
    input: fc.constantFrom<Readonly<Record<string, unknown>>>(
      { command: 'npm test' },
      { file_path: filePath(0), old_string: 'x' },
    ),
    content: fc.oneof(
      commandOutput,
      commandOutput.map((value) => [text(value)]),
    ),
  }),
  fc.constant(true),
);

const call: fc.Arbitrary<CallSpec> = fc.oneof(
  { weight: 5, arbitrary: readCall },
  { weight: 4, arbitrary: commandCall },
  { weight: 3, arbitrary: searchCall },
  { weight: 2, arbitrary: editCall },
  { weight: 1, arbitrary: writeCall },
  { weight: 2, arbitrary: planCall },
  { weight: 1, arbitrary: otherCall },
  { weight: 1, arbitrary: failedCall },
);

const leadingBlocks: fc.Arbitrary<readonly Block[]> = fc
  .tuple(fc.array(thinking, { maxLength: 2 }), fc.array(prose.map(text), { maxLength: 1 }), fc.option(serverCall))
  .map(([thoughts, words, server]) => [...thoughts, ...words, ...(server ?? [])]);

const trailingBlocks: fc.Arbitrary<readonly Block[]> = fc.array(
  fc.oneof(environmentDetails.map(text), prose.map(text), image, documentBlock, unknownBlock),
  { maxLength: 2 },
);

const callsTurn: fc.Arbitrary<Turn> = fc.record({
  kind: fc.constant('calls'),
  lead: leadingBlocks,
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  trail: trailingBlocks,
  apart: fc.boolean(),
});

const talkTurn: fc.Arbitrary<Turn> = fc.record({
  kind: fc.constant('talk'),
  assistant: fc.oneof(
    prose,
    leadingBlocks.map((blocks) => [...blocks, text('So it is.')]),
  ),
  user: fc.oneof(
    prose,
    fc.tuple(prose, trailingBlocks).map(([words, blocks]) => [text(words), ...blocks]),
  ),
});

interface XmlExchange {
  readonly tool: string;
  readonly subject: string;
  readonly parameters: string;
  readonly result: string;
}

const xmlExchange: fc.Arbitrary<XmlExchange> = fc.oneof(
  fileSlice.map(({ file, text: result }) => ({
    tool: 'read_file',
    subject: filePath(file),
    parameters: `<path>${filePath(file)}</path>`,
    result,
  })),
  fileSlice.map(({ file, text: content }) => ({
    tool: 'write_to_file',
    subject: filePath(file),
    parameters: `<path>${filePath(file)}</path>\n<content>\n${content}\n</content>`,
    result: `<file_write_result>\n<path>${filePath(file)}</path>\n</file_write_result>`,
  })),
  commandOutput.map((result) => ({
    tool: 'execute_command',
    subject: 'npm test',
    parameters: '<command>npm test</command>',
    result,
  })),
  listing.map((result) => ({ tool: 'search_files', subject: 'handler', parameters: '<regex>handler</regex>', result })),
  todoText.map((todos) => ({
    tool: 'update_todo_list',
    subject: '',
    parameters: `<todos>\n${todos}\n</todos>`,
    result: 'Todo list updated successfully.',
  })),
  commandOutput.map((output) => ({
    tool: 'apply_diff',
    subject: filePath(1),
    parameters: `<path>${filePath(1)}</path><diff>${output}</diff>`,
    result: `<error>${output}</error>`,
  })),
);

const xmlTurn: fc.Arbitrary<Turn> = fc
  .record({
    words: prose,
    exchange: xmlExchange,
    oneBlock: fc.boolean(),
    environment: fc.option(environmentDetails),
  })
  .map(({ words, exchange, oneBlock, environment }) => {
    const { tool, subject, parameters, result } = exchange;
    const header = subject === '' ? `[${tool}] Result:` : `[${tool} for '${subject}'] Result:`;
    return {
      kind: 'xml',
      assistant: [text(`${words}\n\n<${tool}>\n${parameters}\n</${tool}>`)],
      user: [
        ...(oneBlock ? [text(`${header}\n${result}`)] : [text(header), text(result)]),
        ...(environment === null ? [] : [text(environment)]),
      ],
    };
  });

export const turn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 6, arbitrary: callsTurn },
  { weight: 2, arbitrary: xmlTurn },
  { weight: 1, arbitrary: talkTurn },
);
