import { describe, expect, it } from 'vitest';
import { assistant, call, makeToolExchange, result, text, user, readCpuMs } from '../../testing';
import { checkConversation, checkView, findNewViolations, SUMMARY_ORIGIN, type Violation } from './index';
import type { ApiMessage, Block } from '../types';

const where = ({ rule, message, block }: Violation): string =>
  `${rule} at ${message}${block === undefined ? '' : `.${block}`}`;

const mark = { cache_control: { type: 'ephemeral' } };
const thinking = (value: string): Block => ({ type: 'thinking', thinking: value, signature: `signed ${value}` });
const serverCall = (id: string): Block => ({ type: 'server_tool_use', id, name: 'web_search', input: {} });
const serverResult = (id: string): Block => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });

const programmatic: Block = { ...call('p', 'query', {}), caller: { type: 'code_execution_20250825', tool_id: 's' } };

/** This conversation satisfies every rule. */
const valid: ApiMessage[] = [
  user('the task'),
  assistant(thinking('hm'), 'both at once', call('a', 'Read', { path: 'x' }), call('b', 'Bash', {})),
  user(result('b', 'boom', { is_error: true }), result('a', [text('one'), { type: 'image', source: {} }]), 'go on'),
  { role: 'system', content: 'note' },
  user('and this', text('too', mark)),
  assistant(serverCall('s'), serverResult('s'), 'found', call('c', 'Read', {})),
  assistant('a second message of one turn', call('d', 'Read', {})),
  user(result('c', 'c')),
  user(result('d'), text('thanks', mark)),
  assistant('done', call('e', 'Read', {})),
];

describe('the validity check of a conversation', () => {
  it('finds nothing in a valid conversation', () => {
    expect(checkConversation(valid)).toEqual([]);
    expect(checkConversation([])).toEqual([]);
    expect(checkConversation([{ role: 'system', content: 's' }, user('t'), assistant()])).toEqual([]);
  });

  it('accepts a server-side program that waits for its calls, also repeatedly', () => {
    const again: Block = { ...programmatic, id: 'p2' };
    const begun = [user('task'), assistant(serverCall('s'), programmatic), user(result('p', '[1]'))];
    expect(checkConversation(begun)).toEqual([]);
    expect(checkConversation([...begun, assistant(serverResult('s'), 'done')])).toEqual([]);
    const more = [...begun, assistant(again), user(result('p2', '[2]')), assistant(serverResult('s'), 'done')];
    expect(checkConversation(more)).toEqual([]);
  });

  const task = user('task');
  const ask = (...ids: string[]): ApiMessage => assistant(...ids.map((id) => call(id, 'Read', {})));
  it.each<[string, string[], ApiMessage[]]>([
    ['the assistant begins', ['first-is-user at 1'], [{ role: 'system', content: 's' }, assistant('hi')]],
    ['a blank message', ['text-not-blank at 0'], [user(' \n')]],
    ['a message without content', ['text-not-blank at 1'], [task, assistant(), user('x')]],
    ['a blank text block', ['text-not-blank at 1.1'], [task, assistant('x', '\t')]],
    ['a blank text in a result', ['text-not-blank at 2.0'], [task, ask('a'), user(result('a', [text('')]))]],
    ['an unanswered call', ['call-answered at 1.1'], [task, ask('a', 'b'), user(result('a', 'x'))]],
    ['an interrupted call', ['call-answered at 1.0'], [task, ask('a'), user('stop')]],
    ['an interrupted call in the past', ['call-answered at 1.0'], [task, ask('a'), user('stop'), assistant('ok')]],
    ['a call in a message of the user', ['call-answered at 0.0'], [user(call('a', 'Read', {}))]],
    ['a result without call', ['result-has-call at 2.0'], [task, assistant('x'), user(result('a', 'x'))]],
    [
      'a result that comes too late',
      ['call-answered at 1.0', 'result-has-call at 4.0'],
      [task, ask('a'), user('stop'), assistant('ok'), user(result('a', 'x'))],
    ],
    [
      'a result in a message of the assistant',
      ['result-has-call at 2.0', 'call-answered at 1.0'],
      [task, ask('a'), assistant(result('a', 'x')), user('y')],
    ],
    ['two results of one call', ['result-once at 2.1'], [task, ask('a'), user(result('a', 'x'), result('a', 'y'))]],
    [
      'two results of one call in two messages',
      ['result-once at 3.0'],
      [task, ask('a'), user(result('a', 'x')), user(result('a', 'y'))],
    ],
    ['a result behind text', ['results-first at 2.1'], [task, ask('a'), user(text('so'), result('a', 'x'))]],
    [
      'a result behind text in the message before',
      ['results-first at 4.0'],
      [task, ask('a', 'b'), user(result('a', 'x'), 'so'), user(), user(result('b', 'y'))].map((message, index) =>
        index === 3 ? { role: 'system', content: 'between' } : message,
      ),
    ],
    ['a result behind string content', ['results-first at 3.0'], [task, ask('a'), user('so'), user(result('a', 'x'))]],
    ['a server call without result', ['server-pair-kept at 1'], [task, assistant(serverCall('s'))]],
    ['a server result without call', ['server-pair-kept at 1.0'], [task, assistant(serverResult('s'))]],
    [
      'a server result before its call',
      ['server-pair-kept at 1.0', 'server-pair-kept at 1'],
      [task, assistant(serverResult('s'), serverCall('s'))],
    ],
    [
      'a program whose result does not come in the next answer',
      ['server-pair-kept at 1'],
      [task, assistant(serverCall('s'), programmatic), user(result('p', 'x')), assistant(text('so'))],
    ],
    ['half of a surrogate pair', ['text-well-formed at 0'], [user('cut \ud83d')]],
    [
      'half a pair in the name of an input',
      ['text-well-formed at 1.0'],
      [task, assistant(call('a', 'Read', { 'NAME\ud83d': 'x' })), user(result('a', 'x'))],
    ],
    ['half a pair in a result', ['text-well-formed at 2.0'], [task, ask('a'), user(result('a', [text('\udc00')]))]],
    [
      'an id used twice',
      ['ids-unique at 3.0'],
      [task, ask('a'), user(result('a', 'x')), ask('a'), user(result('a', 'y'))],
    ],
    [
      'an id used by a call and a server call',
      ['ids-unique at 1.1'],
      [task, assistant(call('a', 'x', {}), serverCall('a'), serverResult('a'))],
    ],
    ['an input that is no object', ['input-is-object at 1.0'], [task, assistant(call('a', 'Read', '{"broken'))]],
    ['an input that is a list', ['input-is-object at 1.0'], [task, assistant(call('a', 'Read', []))]],
    [
      'errors without text',
      ['error-has-text at 2.0', 'error-has-text at 2.1', 'error-has-text at 2.2'],
      [
        task,
        ask('a', 'b', 'c'),
        user(
          result('a', ' ', { is_error: true }),
          result('b', undefined, { is_error: true }),
          result('c', [{ type: 'image', source: {} }], { is_error: true }),
        ),
      ],
    ],
    [
      'five cache marks, one of them inside a result',
      ['cache-marks at 3.0'],
      [
        task,
        ask('a'),
        user(result('a', [text('x', mark)], mark), text('y', mark), text('z', mark)),
        assistant(text('w', mark)),
      ],
    ],
  ])('finds a violation: %s', (_, expected, messages) => {
    expect(checkConversation(messages).map(where)).toEqual(expected);
  });

  it('describes a violation in words', () => {
    const [violation] = checkConversation([user('t'), assistant(call('a', 'Read', {})), user('no')]);
    expect(violation).toEqual({ rule: 'call-answered', message: 1, block: 0, detail: 'a has no result' });
  });
});

describe('the validity check of a condensed conversation', () => {
  const original = valid;
  const withMessage = (index: number, message: ApiMessage): ApiMessage[] => original.with(index, message);
  const blocks = (index: number): Block[] => [...(original[index]!.content as Block[])];
  const withBlock = (index: number, at: number, change: Record<string, unknown>): ApiMessage[] =>
    withMessage(index, { ...original[index]!, content: blocks(index).with(at, { ...blocks(index)[at]!, ...change }) });
  const found = (view: readonly ApiMessage[], origins?: number[]): string[] =>
    checkView(original, view, origins).map(where);

  it('accepts every change that condensing makes', () => {
    expect(found(original)).toEqual([]);
    expect(found(structuredClone(original))).toEqual([]);
    expect(found(withBlock(1, 1, { text: 'shorter' }))).toEqual([]);
    expect(found(withBlock(1, 2, { input: { path: 'a marker' } }))).toEqual([]);
    expect(found(withBlock(2, 0, { content: 'short' }))).toEqual([]);
    expect(found(withBlock(2, 1, { content: [text('short'), { type: 'image', source: {} }] }))).toEqual([]);
    expect(found(withMessage(1, { ...original[1]!, content: blocks(1).slice(1) }))).toEqual([]);
  });

  it.each<[string, string[], ApiMessage[]]>([
    ['a message more', ['messages-kept at 10'], [...original, user('more')]],
    ['a message less', ['messages-kept at 9'], original.slice(0, -1)],
    ['a changed task', ['task-kept at 0'], withMessage(0, user('another task'))],
    ['a changed role', ['fields-kept at 1'], withMessage(1, { ...original[1]!, role: 'user' })],
    ['a lost field', ['fields-kept at 1'], withMessage(1, { ...original[1]!, extra: 1 })],
    ['string content as blocks', ['structure-kept at 3'], withMessage(3, { role: 'system', content: [text('note')] })],
    ['a block less', ['structure-kept at 1'], withMessage(1, { ...original[1]!, content: blocks(1).slice(0, -1) })],
    ['another kind of block', ['structure-kept at 1.1'], withBlock(1, 1, { type: 'image' })],
    ['another id', ['ids-kept at 1.2', 'fields-kept at 1.2'], withBlock(1, 2, { id: 'z' })],
    ['another answered id', ['ids-kept at 2.0', 'fields-kept at 2.0'], withBlock(2, 0, { tool_use_id: 'z' })],
    ['another name', ['fields-kept at 1.2'], withBlock(1, 2, { name: 'Write' })],
    ['an error that is no longer marked', ['fields-kept at 2.0'], withBlock(2, 0, { is_error: undefined })],
    ['changed thinking', ['thinking-kept at 1.0'], withBlock(1, 0, { thinking: 'hm!' })],
    ['a lost signature', ['thinking-kept at 1.0'], withBlock(1, 0, { signature: undefined })],
    ['result blocks as string', ['structure-kept at 2.1'], withBlock(2, 1, { content: 'one' })],
    ['a result without content', ['structure-kept at 2.0'], withBlock(2, 0, { content: undefined })],
    ['a lost image in a result', ['structure-kept at 2.1'], withBlock(2, 1, { content: [text('one')] })],
    [
      'another image in a result',
      ['structure-kept at 2.1'],
      withBlock(2, 1, { content: [text('one'), { type: 'image', source: 'other' }] }),
    ],
  ])('finds a violation: %s', (_, expected, view) => {
    expect(found(view)).toEqual(expected);
  });

  it('rejects thinking that was removed partially, but not completely', () => {
    const two = [user('t'), assistant(thinking('1'), 'x', thinking('2'), 'y')];
    const content = two[1]!.content as Block[];
    const without = (...at: number[]): ApiMessage[] => [
      two[0]!,
      { ...two[1]!, content: content.filter((_, index) => !at.includes(index)) },
    ];
    expect(checkView(two, without(0)).map(where)).toEqual(['thinking-kept at 1']);
    expect(checkView(two, without(0, 2))).toEqual([]);
    expect(checkView(two, without(0, 1, 2)).map(where)).toEqual(['thinking-kept at 1']);
  });

  it('rejects thinking removed from the first answer of the unfinished turn, but not from another', () => {
    const step = (id: string): ApiMessage[] => [assistant(thinking('hm'), call(id, 'Read', {})), user(result(id, 'x'))];
    const open = [user('t'), ...step('a'), assistant('done'), user('more'), ...step('b'), ...step('c')];
    const without = (index: number): ApiMessage[] =>
      open.with(index, { ...open[index]!, content: (open[index]!.content as Block[]).slice(1) });
    expect([1, 5, 7].map((index) => checkView(open, without(index)).map(where))).toEqual([
      [],
      ['thinking-kept at 5'],
      [],
    ]);
    // The turn is over: the next one starts with the user's text.
    const over = assistant('done');
    expect(checkView([...open, over], [...without(5), over])).toEqual([]);
    const summary = user('a summary');
    expect(checkView(open, [open[0]!, summary, ...without(5).slice(5)], [0, SUMMARY_ORIGIN, 5, 6, 7, 8])).toEqual([]);
  });

  it('rejects messages in another order and a missing task', () => {
    expect(found([original[0]!, original[3]!, original[1]!], [0, 3, 1])).toEqual(['messages-kept at 1']);
    expect(found([original[0]!, user('x'), original[3]!, original[1]!], [0, SUMMARY_ORIGIN, 3, 1])).toEqual([
      'messages-kept at 3',
    ]);
    expect(found([original[0]!, user('a summary')], [0, SUMMARY_ORIGIN])).toEqual([]);
    expect(found([], [])).toEqual(['messages-kept at 0', 'task-kept at 0']);
    expect(checkView([assistant('x')], [assistant('x')])).toEqual([]);
  });

  it('is not confused by blocks whose type is “constructor” or “__proto__”', () => {
    const strange: ApiMessage[] = [user('t'), assistant({ type: 'constructor', a: 1 }, { type: '__proto__', a: 1 })];
    expect(checkView(strange, structuredClone(strange))).toEqual([]);
    const changed = [user('t'), assistant({ type: 'constructor', a: 2 }, { type: '__proto__', a: 2 })];
    expect(checkView(strange, changed).map(where)).toEqual(['fields-kept at 1.0', 'fields-kept at 1.1']);
  });
});

describe('finding violations that a condensation adds', () => {
  const imperfect = [
    user('task'),
    assistant(thinking('hm'), 'x', ' ', call('a', 'Read', 'broken')),
    user('stop'),
    ...makeToolExchange('a', 'Read', {}, ''),
  ];

  it('ignores violations that the original conversation has, too', () => {
    expect(checkConversation(imperfect).map(where)).toEqual([
      'text-not-blank at 1.2',
      'input-is-object at 1.3',
      'call-answered at 1.3',
      'ids-unique at 3.0',
    ]);
    expect(findNewViolations(imperfect, imperfect)).toEqual([]);
    expect(findNewViolations(imperfect, imperfect.with(2, user(' '))).map(where)).toEqual(['text-not-blank at 2']);
    const blank = imperfect.with(1, assistant(thinking('hm'), ' ', ' ', call('a', 'Read', 'broken')));
    expect(findNewViolations(imperfect, blank).map(where)).toEqual(['text-not-blank at 1.1']);
  });

  it('recognizes old violations if thinking was removed', () => {
    const [, first] = imperfect;
    const view = imperfect.with(1, { ...first!, content: (first!.content as Block[]).slice(1) });
    expect(findNewViolations(imperfect, view)).toEqual([]);
  });

  it('recognizes old violations if messages moved to earlier positions', () => {
    expect(
      findNewViolations(imperfect, imperfect.toSpliced(1, 2, user('a summary')), {
        origins: [0, SUMMARY_ORIGIN, 3, 4],
      }).map(where),
    ).toEqual([]);
  });

  it('takes linear time', () => {
    const many = [user('task')];
    for (let index = 0; index < 10_000; index++)
      many.push(...makeToolExchange(`id${index}`, 'Read', { path: 'x' }, 'text'));
    const started = readCpuMs();
    expect(findNewViolations(many, many)).toEqual([]);
    const one = [
      user('task'),
      assistant(...many.flatMap((message) => (message.role === 'assistant' ? (message.content as Block[]) : []))),
    ];
    expect(findNewViolations(one, structuredClone(one))).toEqual([]);
    expect(readCpuMs() - started).toBeLessThan(2_000);
  });
});
