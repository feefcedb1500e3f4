/**
 * Generates families of sessions as each agent writes them: continued, forked, forked again, copied
 * into other homes, archived, with subagents, and given back. Each request must count once, however
 * many sessions repeat it.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { READER_BY_FORMAT, readConversation } from '../conversations/read';
import { readJsonLineRecords } from '../conversations/text/jsonLines';
import { readLines } from '../conversations/text/lines';
import { groupAccountInRows, GROUPINGS, sumSessionAccounts, type SessionAccount } from '../core/account/account';
import { countCopiedRequestsOnce, type ReadSession } from '../core/account/once';
import { dropImplausibleUsage, type RecordedRequests } from '../core/account/recordedRequest';
import type { RequestCollector } from '../conversations/formats/format';
import { computeRecordedAccount } from './sessionAccount';

type Fields = Readonly<Record<string, unknown>>;

/** A request that was paid for. */
interface Paid {
  /** Unique among all requests. */
  readonly number: number;
  readonly at: number;
  readonly input: number;
  readonly output: number;
}

interface Entry {
  readonly paid: Paid;
  /** The time that its record states. For a copy, that may be the time of copying. */
  readonly at: number;
  /** The session from whose file this entry was copied. */
  readonly copiedFrom?: string;
  /** True if it was copied in the middle of the answer. */
  readonly isPart?: boolean;
}

interface Session {
  readonly id: string;
  readonly began: number;
  readonly entries: Entry[];
  readonly forkOf?: string;
  /** The session that started this one. */
  readonly parent?: string;
  readonly isGivenBack?: boolean;
  /** Subagents' entries that this session also contains. */
  readonly side: Entry[];
}

/** What an agent does with its sessions. */
type Kind = 'ask' | 'fork' | 'restamp' | 'part' | 'subagent' | 'side' | 'giveBack' | 'copy' | 'archive';

interface Writer {
  readonly agent: string;
  readonly kinds: readonly Kind[];
  readonly write: (session: Session) => string;
}

const iso = (at: number): string => new Date(at).toISOString();
const lines = (records: readonly Fields[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

const MODEL = 'claude-sonnet-4-5';

/**
 * Writes a Claude Code transcript. Some versions and servers omit the API's ID of the request, or
 * of the message, too.
 */
const claude =
  (ids: 'both' | 'message' | 'none'): Writer['write'] =>
  (session) => {
    const answer = ({ paid, at, copiedFrom, isPart }: Entry, isSidechain = false): readonly Fields[] => {
      const isFree = session.isGivenBack === true && copiedFrom !== undefined;
      const record = (type: string, uuid: string, fields: Fields, message: Fields): Fields => ({
        ...{ type, uuid, parentUuid: null, sessionId: session.id, timestamp: iso(at), isSidechain, ...fields },
        message: { role: type, content: [{ type: 'text', text: 'x' }], ...message },
      });
      const usage = (output: number): Fields => ({
        usage: {
          ...{ input_tokens: isFree ? 0 : paid.input, output_tokens: isFree ? 0 : output },
          ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
        },
      });
      const named = { model: MODEL, ...(ids === 'none' ? {} : { id: `m${paid.number}` }) };
      const request = ids === 'both' ? { requestId: `r${paid.number}` } : {};
      // Each block has its own record. The first record counts only the beginning of the output.
      const blocks = [1, paid.output].slice(0, isPart === true ? 1 : 2);
      return [
        record('user', `u${paid.number}`, {}, {}),
        ...blocks.map((output, block) => ({
          ...record('assistant', `a${paid.number}-${block}`, request, { ...named, ...usage(output) }),
          parentUuid: block === 0 ? `u${paid.number}` : `a${paid.number}-0`,
        })),
      ];
    };
    return lines([
      ...(session.isGivenBack === true
        ? [
            { type: 'summary', summary: 'T', leafUuid: 'x' },
            { type: 'custom-title', customTitle: 'T', sessionId: session.id },
          ]
        : [{ type: 'mode', mode: 'normal', sessionId: session.id, timestamp: iso(session.began) }]),
      ...session.entries.flatMap((entry) => answer(entry)),
      ...session.side.flatMap((entry) => answer(entry, true)),
    ]);
  };

function codex(session: Session): string {
  let total = 0;
  let output = 0;
  return lines([
    {
      ...{ type: 'session_meta', timestamp: iso(session.began) },
      payload: {
        ...{ id: session.id, timestamp: iso(session.began), model_provider: 'openai', cli_version: '0.171.0' },
        ...(session.forkOf !== undefined && { forked_from_id: session.forkOf }),
        ...(session.parent !== undefined && {
          source: { subagent: { thread_spawn: { parent_thread_id: session.parent, depth: 1 } } },
        }),
      },
    },
    { type: 'turn_context', timestamp: iso(session.began), payload: { model: 'gpt-5.1' } },
    ...session.entries.flatMap(({ paid, at }) => {
      total += paid.input;
      output += paid.output;
      const sums = (input: number, out: number): Fields => ({
        ...{ input_tokens: input, cached_input_tokens: 0, output_tokens: out, total_tokens: input + out },
      });
      const info = { total_token_usage: sums(total, output), last_token_usage: sums(paid.input, paid.output) };
      const counted = { type: 'event_msg', timestamp: iso(at), payload: { type: 'token_count', info } };
      const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] };
      // Codex writes the same token count again whenever it checks the rate limits.
      return [{ type: 'response_item', timestamp: iso(at), payload: said }, counted, counted];
    }),
  ]);
}

const pi = (session: Session): string =>
  lines([
    { type: 'session', version: 3, id: session.id, timestamp: iso(session.began), cwd: '/w' },
    ...session.entries.map(({ paid, at }) => ({
      ...{ type: 'message', id: `e${paid.number}`, parentId: null, timestamp: iso(at) },
      message: {
        ...{
          role: 'assistant',
          content: [{ type: 'text', text: 'x' }],
          timestamp: at,
          model: MODEL,
          provider: 'anthropic',
        },
        usage: { input: paid.input, output: paid.output, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } },
      },
    })),
  ]);

const gemini = (session: Session): string =>
  lines([
    { sessionId: session.id, projectHash: 'h', startTime: iso(session.began), lastUpdated: iso(session.began) },
    ...session.entries.flatMap(({ paid, at }) => {
      const record = (output: number) => ({
        ...{ id: `g${paid.number}`, timestamp: iso(at), type: 'gemini', content: 'x', model: 'gemini-2.5-pro' },
        tokens: { input: paid.input, output, cached: 0, thoughts: 0, tool: 0, total: paid.input + output },
      });
      // Gemini CLI writes the record again as the answer grows.
      return [record(1), record(paid.output)];
    }),
  ]);

const copilot = (session: Session): string =>
  lines([
    { type: 'session.start', id: `${session.id}-0`, timestamp: iso(session.began), data: { sessionId: session.id } },
    ...session.entries.map(({ paid, at, copiedFrom }) => ({
      ...{ type: 'session.usage_record', id: `c${paid.number}`, timestamp: iso(at) },
      data: {
        usage: {
          ...{ model: MODEL, inputTokens: paid.input, outputTokens: paid.output, isByok: true },
          accounting: { sourceSessionId: copiedFrom ?? session.id, sequence: paid.number },
        },
      },
    })),
  ]);

const qwen = (session: Session): string =>
  lines(
    session.entries.flatMap(({ paid, at, copiedFrom }) => {
      const record = (uuid: string, fields: Fields) => ({
        ...{ uuid, parentUuid: null, sessionId: session.id, timestamp: iso(at), cwd: '/w', ...fields },
        ...(copiedFrom !== undefined && { forkedFrom: { sessionId: copiedFrom, messageUuid: uuid } }),
      });
      const total = paid.input + paid.output;
      const response = {
        ...{ 'event.name': 'qwen-code.api_response', model: 'qwen3', input_token_count: paid.input },
        ...{ output_token_count: paid.output, cached_content_token_count: 0, total_token_count: total },
      };
      const told = { promptTokenCount: paid.input, candidatesTokenCount: paid.output, totalTokenCount: total };
      return [
        record(`t${paid.number}`, { type: 'system', subtype: 'ui_telemetry', systemPayload: { uiEvent: response } }),
        record(`a${paid.number}`, {
          ...{ type: 'assistant', model: 'qwen3', message: { role: 'model', parts: [{ text: 'x' }] } },
          usageMetadata: told,
        }),
      ];
    }),
  );

const continueDev = (session: Session): string =>
  JSON.stringify({
    ...{ sessionId: session.id, title: 'T', workspaceDirectory: '/w' },
    history: session.entries.flatMap(({ paid }) => [
      { message: { role: 'user', content: `Ask ${paid.number}` }, contextItems: [] },
      {
        message: {
          ...{ role: 'assistant', content: 'x' },
          usage: { prompt_tokens: paid.input, completion_tokens: paid.output, model: 'gpt-5.1' },
        },
        contextItems: [],
      },
    ]),
  });

/** Kilo's forks, unlike OpenCode's, record that copied requests cost nothing. */
const openCode = (session: Session): string =>
  JSON.stringify({
    info: {
      id: session.id,
      title: 'T',
      directory: '/w',
      version: '1',
      time: { created: session.began, updated: session.began },
    },
    messages: session.entries.map(({ paid, at, copiedFrom }) => {
      const cost = copiedFrom !== undefined && paid.number % 2 === 0 ? 0 : 0.01;
      const id = `msg_${session.id}_${paid.number}`;
      const tokens = { input: paid.input, output: paid.output, reasoning: 0, cache: { read: 0, write: 0 } };
      return {
        info: {
          ...{ id, sessionID: session.id, role: 'assistant', modelID: MODEL, providerID: 'anthropic', cost, tokens },
          time: { created: at, completed: at },
        },
        parts: [
          { id: `prt_${id}_1`, messageID: id, sessionID: session.id, type: 'text', text: 'x' },
          {
            id: `prt_${id}_2`,
            messageID: id,
            sessionID: session.id,
            type: 'step-finish',
            reason: 'stop',
            cost,
            tokens,
          },
        ],
      };
    }),
  });

const cline = (session: Session): string =>
  JSON.stringify(
    session.entries.flatMap(({ paid, at }) => [
      { role: 'user', content: [{ type: 'text', text: 'x' }], ts: at },
      {
        ...{ role: 'assistant', content: [{ type: 'text', text: 'x' }], ts: at + 1 },
        modelInfo: { id: MODEL, provider: 'anthropic' },
        metrics: {
          inputTokens: paid.input,
          outputTokens: paid.output,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          cost: 0,
        },
      },
    ]),
  );

const ALWAYS = ['ask', 'copy', 'archive'] as const;
const WRITERS: Readonly<Record<string, Writer>> = {
  'Claude Code': {
    ...{ agent: 'claude-code', write: claude('both') },
    kinds: [...ALWAYS, 'fork', 'restamp', 'part', 'subagent', 'side', 'giveBack'],
  },
  'Claude Code without request ids': {
    ...{ agent: 'claude-code', write: claude('message') },
    kinds: [...ALWAYS, 'fork', 'restamp', 'part', 'subagent', 'side', 'giveBack'],
  },
  'Claude Code without ids': {
    ...{ agent: 'claude-code', write: claude('none') },
    kinds: [...ALWAYS, 'fork', 'restamp', 'part', 'subagent', 'side'],
  },
  Codex: { agent: 'codex', kinds: [...ALWAYS, 'fork', 'restamp', 'subagent'], write: codex },
  Pi: { agent: 'pi', kinds: [...ALWAYS, 'fork', 'restamp'], write: pi },
  'Gemini CLI': { agent: 'gemini', kinds: [...ALWAYS, 'fork', 'restamp'], write: gemini },
  'Copilot CLI': { agent: 'copilot', kinds: [...ALWAYS, 'fork', 'restamp'], write: copilot },
  'Qwen Code': { agent: 'qwen-code', kinds: [...ALWAYS, 'fork', 'restamp'], write: qwen },
  // OpenCode's forks keep the original times, and Continue records none.
  OpenCode: { agent: 'opencode', kinds: ['ask', 'copy', 'fork'], write: openCode },
  Continue: { agent: 'continue', kinds: ['ask', 'copy', 'fork'], write: continueDev },
  Cline: { agent: 'cline', kinds: ['ask', 'copy'], write: cline },
};

interface File {
  readonly path: string;
  readonly text: string;
  readonly parent?: string;
}

interface Family {
  readonly files: readonly File[];
  readonly paid: readonly Paid[];
}

interface Step {
  readonly kind: Kind;
  readonly session: number;
  readonly drop: number;
  readonly size: number;
}

function grow({ write }: Writer, steps: readonly Step[]): Family {
  let clock = Date.UTC(2026, 1, 1);
  const paid: Paid[] = [];
  const sessions: Session[] = [];
  const copies: File[] = [];
  const begin = (fields: Partial<Session> = {}): void => {
    clock += 60_000;
    sessions.push({ id: `s${sessions.length}`, began: clock, entries: [], side: [], ...fields });
  };
  const fileOf = (session: Session): File => ({
    path: `/home/${session.id}`,
    text: write(session),
    ...(session.parent !== undefined && { parent: `/home/${session.parent}` }),
  });
  begin();
  for (const { kind, session: chosen, drop, size } of steps) {
    const at = sessions[chosen % sessions.length];
    if (!at) continue;
    clock += 60_000;
    switch (kind) {
      case 'ask': {
        const request = { number: paid.length, at: clock, input: size, output: 2 + (size % 7) };
        paid.push(request);
        at.entries.push({ paid: request, at: clock });
        break;
      }
      case 'fork':
      case 'restamp':
      case 'part':
      case 'giveBack': {
        clock += 60_000;
        const kept = at.entries.slice(0, Math.max(0, at.entries.length - (drop % 3)));
        const entries = kept.map((entry, index): Entry => ({
          paid: entry.paid,
          at: kind === 'restamp' ? clock : entry.at,
          copiedFrom: entry.copiedFrom ?? at.id,
          ...((entry.isPart === true || (kind === 'part' && index === kept.length - 1)) && { isPart: true }),
        }));
        begin({ entries, ...(kind === 'giveBack' ? { isGivenBack: true } : { forkOf: at.id }) });
        const newest = sessions.at(-1);
        // The session begins a minute before the time that its copied entries get.
        if (kind === 'restamp' && newest) sessions.splice(-1, 1, { ...newest, began: clock - 60_000 });
        break;
      }
      case 'subagent':
        begin({ parent: at.id });
        break;
      case 'side':
        at.side.push(...sessions.filter(({ parent }) => parent === at.id).flatMap(({ entries }) => entries));
        break;
      case 'copy':
        copies.push({ ...fileOf(at), path: `/other${copies.length}/${at.id}` });
        break;
      case 'archive': {
        const { text } = fileOf(at);
        const records = text.split('\n').filter((line) => line !== '');
        const some = records.slice(0, records.length - (drop % 3));
        copies.push({ path: `/archived${copies.length}/${at.id}`, text: some.map((line) => `${line}\n`).join('') });
      }
    }
  }
  return { files: [...sessions.map(fileOf), ...copies], paid };
}

/**
 * Returns the requests that a file records. Reads it line by line, as is done for files of any
 * size.
 */
function recordedIn(text: string, path: string): RecordedRequests | undefined {
  let collector: RequestCollector | undefined;
  if (text.startsWith('{') && text.includes('}\n')) {
    readJsonLineRecords(readLines(text, path), path, [], ({ value }) => {
      collector ??= Object.values(READER_BY_FORMAT)
        .find((format) => format.lines?.isRecord(value))
        ?.lines?.requests?.();
      collector?.takeRecord(value);
    });
    const result = collector?.getResult();
    return result && dropImplausibleUsage(result);
  }
  return readConversation(text, { path }, { history: 'all' }).recorded;
}

function readAll({ agent }: Writer, files: readonly File[]): ReadSession[] {
  return files.flatMap(({ path, text, parent }) => {
    const recorded =
      /"(?:output|completion_tokens|outputTokens)":/.test(text) || text.includes('\n')
        ? recordedIn(text, path)
        : undefined;
    if (!recorded) return [];
    const file = { agent, path, modified: 0, ...(parent !== undefined && { parent }) };
    return [computeRecordedAccount(file, { id: path, title: path }, recorded, 0, { lookup: () => undefined })];
  });
}

const sumsOf = (accounts: readonly SessionAccount[]) => {
  const { requests, fresh, output } = sumSessionAccounts(accounts);
  return { requests, fresh, output };
};

const byPath = (a: SessionAccount, b: SessionAccount): number => (a.path < b.path ? -1 : 1);

describe.each(Object.entries(WRITERS))('the account of generated %s sessions', (_name, writer) => {
  const family = fc.record({
    steps: fc.array(
      fc.record({
        kind: fc.constantFrom<Kind>('ask', 'ask', ...writer.kinds),
        session: fc.nat(20),
        drop: fc.nat(10),
        size: fc.constantFrom(100, 200),
      }),
      { maxLength: 14 },
    ),
    order: fc.infiniteStream(fc.nat()),
  });

  it("counts each request once, even if several files repeat it, and regardless of the files' order", () => {
    fc.assert(
      fc.property(family, ({ steps, order }) => {
        const { files, paid } = grow(writer, steps);
        const read = readAll(writer, files);
        const accounts = countCopiedRequestsOnce(read);
        const sum = (field: 'input' | 'output'): number => paid.reduce((all, each) => all + each[field], 0);
        expect(sumsOf(accounts)).toEqual({ requests: paid.length, fresh: sum('input'), output: sum('output') });
        const shuffled = read
          .map((session) => ({ session, place: order.next().value }))
          .sort((a, b) => a.place - b.place)
          .map(({ session }) => session);
        expect(countCopiedRequestsOnce(shuffled).sort(byPath)).toEqual([...accounts].sort(byPath));
        const whole = sumSessionAccounts(accounts);
        for (const grouping of GROUPINGS) {
          const rows = groupAccountInRows(accounts, grouping);
          expect(rows.reduce((all, { requests }) => all + requests, 0)).toBe(whole.requests);
        }
        const roots = groupAccountInRows(accounts, 'session').filter(({ tree }) => tree?.depth === 0);
        expect(roots.reduce((all, { tree }) => all + (tree?.requests ?? 0), 0)).toBe(whole.requests);
      }),
    );
  });
});
