/**
 * Reads real sessions of many agents with both values of `history`, and expects no new violations.
 * Every provider that costs nothing must leave a valid view that can be restored exactly, and that
 * a second run does not change. Skipped if there are no sessions. Providers run on each agent's
 * smallest session, and on all in `npm run test:long`.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConversationFile } from '../../src/conversations/readFile';
import { UNTITLED } from '../../src/conversations/title';
import { AGENTS } from '../../src/core/agents';
import { applyEdits, restoreMessagesBeforeEdits } from '../../src/core/condense/edits/applyEdits';
import { getOriginalText, type Edit } from '../../src/core/condense/edits/edits';
import { BUILT_IN_PRESETS } from '../../src/core/condense/providers/smart/presets';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { measureCoherence } from '../../src/core/condense/coherence/coherence';
import { FACT_KINDS } from '../../src/core/condense/coherence/facts';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import type { CondensationProvider } from '../../src/core/condense/types';
import { listToolExchanges } from '../../src/core/messages/exchanges';
import { listFileParts } from '../../src/core/messages/fileParts';
import { checkConversation, findNewViolations } from '../../src/core/messages/firewall';
import { extractPersonText } from '../../src/core/messages/personText';
import { getCommandOfCall, DEFAULT_TOOLS, getToolRule } from '../../src/core/messages/tools';
import type { ApiMessage } from '../../src/core/messages/types';
import { freshCounter } from '../generators/setups';
import { isLong } from '../support/long';

const CORPUS = join(import.meta.dirname, '../../../shared/corpus-wide');
const present = existsSync(CORPUS);
if (!present) console.warn(`NOT TESTED: the real sessions are not at ${CORPUS}`);

interface Session {
  readonly agent: string;
  readonly name: string;
  readonly path: string;
  readonly size: number;
}

const sessions: readonly Session[] = (present ? readdirSync(CORPUS, { withFileTypes: true }) : [])
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name: agent }) =>
    readdirSync(join(CORPUS, agent)).map((file): Session => {
      const path = join(CORPUS, agent, file);
      return { agent, name: `${agent}/${file}`, path, size: statSync(path).size };
    }),
  );

/** Violations that the files themselves contain: Claude Code 2.1 stored blank texts. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  'claude-code/PackmindHub__context-evaluator__4799f814.jsonl': ['text-not-blank'],
};

/** Tools that stay unclassified, with the reason. */
const UNKNOWN: readonly [RegExp, string][] = [
  [/^mcp__claude_browser__/i, 'a browser: what it shows is no file of the project'],
  [/^mcp__plugin_context-mode/i, 'code in a sandbox of its own: its commands don’t name files of the project'],
  [
    /^mcp__(?:linear|context7|github|supabase|sentry|playwright|figma|notion)/i,
    'a service: its results are texts of their own',
  ],
  [/^_|^github_|^mcp__codex_apps__|^list_mcp_|^read_mcp_/, 'calls of services and of MCP itself'],
];

describe.runIf(present)('real sessions of many agents', () => {
  it('are all present', () => {
    expect(sessions.length).toBeGreaterThanOrEqual(55);
  });

  it.each(sessions)('include $name, which can be read', ({ agent, name, path }) => {
    for (const history of ['active', 'all'] as const) {
      const { messages, title, format } = readConversationFile(path, { history });
      const rules = new Set(checkConversation(messages).map(({ rule }) => rule));
      expect([...rules].filter((rule) => !OWN[name]?.includes(rule))).toEqual([]);
      expect(messages.length).toBeGreaterThan(3);
      expect(AGENTS[agent as keyof typeof AGENTS].formats).toContain(format);
      expect(title).not.toBe(UNTITLED);
      // Text that an agent adds before the user's is not a title.
      expect(title).not.toMatch(/^(?:<|# AGENTS\.md)/);
      expect(extractPersonText(title)).toBe(title);
    }
  });

  it('have no unknown tool except those left out on purpose', () => {
    const unknown = new Map<string, number>();
    for (const { path } of sessions) {
      for (const exchange of listToolExchanges(readConversationFile(path, { history: 'all' }).messages)) {
        if (getToolRule(DEFAULT_TOOLS, exchange)) continue;
        if (UNKNOWN.some(([name]) => name.test(exchange.tool))) continue;
        unknown.set(exchange.tool, (unknown.get(exchange.tool) ?? 0) + 1);
      }
    }
    expect([...unknown]).toEqual([]);
  });
});

/** Matches a single `sed -n '1,80p' src/a.ts` or `cat src/a.ts`, which certainly prints a file. */
const PLAIN_READ = /^(?:cat|sed -n '\d+,\d+p') [\w./-]+\.\w+$/;
/** Number of consecutive lines of a file that can't be a coincidence. */
const MIN_LINES = 8;

/** Returns a text's significant lines, without numbers and paths. */
const tellingLines = (text: string): (string | undefined)[] =>
  text.split('\n').map((line) => {
    const bare = line.replace(/^(?:[\w./-]+[:-])?\s*\d+(?:\t|[:-])/, '').trim();
    return bare.length >= 12 ? bare : undefined;
  });

describe.runIf(present)('reads inside commands of Codex', () => {
  it('are recognized in nine of ten cases, judged by the outputs', () => {
    let shown = 0;
    let recognized = 0;
    for (const { path } of sessions.filter(({ agent }) => agent === 'codex')) {
      const commands = listToolExchanges(readConversationFile(path, { history: 'all' }).messages).filter(
        (exchange) => getToolRule(DEFAULT_TOOLS, exchange)?.kind === 'command' && !exchange.isError,
      );
      const files = new Set(
        commands
          .filter((exchange) => PLAIN_READ.test(getCommandOfCall(exchange)?.trim() ?? ''))
          .flatMap(({ resultText }) => tellingLines(resultText)),
      );
      files.delete(undefined);
      for (const exchange of commands) {
        if (longestRun(tellingLines(exchange.resultText), files) < MIN_LINES) continue;
        shown++;
        if (exchange.results.some((result) => listFileParts(DEFAULT_TOOLS, exchange, result).length > 0)) recognized++;
      }
    }
    expect(shown).toBeGreaterThan(300);
    expect(recognized / shown).toBeGreaterThanOrEqual(0.9);
  });
});

/**
 * Returns the length of the longest run of known lines. Short and blank lines neither count nor end
 * a run.
 */
function longestRun(lines: readonly (string | undefined)[], known: ReadonlySet<string | undefined>): number {
  let longest = 0;
  let run = 0;
  for (const line of lines) {
    if (line === undefined) continue;
    run = known.has(line) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

const PROVIDERS: readonly (readonly [string, CondensationProvider, unknown])[] = [
  ['lossless', losslessProvider, {}],
  ['truncation', truncationProvider, {}],
  ...BUILT_IN_PRESETS.map(({ id, config }) => [id, createSmartProvider() as CondensationProvider, config] as const),
];

/** Sessions on which the providers run. */
const tried = [...Map.groupBy(sessions, ({ agent }) => agent).values()].flatMap((own) =>
  isLong ? own : own.toSorted((a, b) => a.size - b.size).slice(0, 1),
);

const counter = freshCounter();

describe.runIf(present)('a condensation of real sessions', () => {
  const condense = async (
    provider: CondensationProvider,
    config: unknown,
    messages: readonly ApiMessage[],
    edits: readonly Edit[] = [],
  ) => {
    const checked = provider.validateConfig(config);
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    return (await provider.condense({ messages, edits, counter }, checked.config, {})).edits;
  };

  it.each(
    tried.flatMap((session) => PROVIDERS.map(([provider, made, config]) => ({ ...session, provider, made, config }))),
  )(
    'like $name with $provider is valid, reversible byte for byte, and final after one run',
    async ({ path, provider, made, config }) => {
      const { messages } = readConversationFile(path, { history: 'all' });
      const before = JSON.stringify(messages);
      const edits = await condense(made, config, messages);
      const { messages: view, stale, origins } = applyEdits(messages, edits);
      expect(stale).toEqual([]);
      expect(findNewViolations(messages, view, { origins })).toEqual([]);
      expect(counter.countMessages(view)).toBeLessThanOrEqual(counter.countMessages(messages));
      const originals = new Map(edits.map((edit) => [edit.before, getOriginalText(messages, edit)]));
      expect(JSON.stringify(restoreMessagesBeforeEdits(view, edits, (hash) => originals.get(hash)))).toBe(before);
      // Lossless must lose nothing, so a loss in the report would be a bug in Lossless or in the
      // report.
      if (provider === 'lossless') {
        const report = measureCoherence(messages, edits);
        for (const kind of FACT_KINDS) expect(report[kind].lostExamples).toEqual([]);
      }
      expect(await condense(made, config, messages, edits)).toEqual([]);
    },
    300_000,
  );
});
