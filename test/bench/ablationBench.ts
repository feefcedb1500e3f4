/**
 * Measures what each Lossless operation, simulated program and preset pass contributes, by
 * condensing without it. A part that changes less than 0.1 points for every agent is not worth its
 * code.
 */
import { SIMULATED_PROGRAMS } from '../../src/core/messages/commands/programs';
import type { SimulatedProgram } from '../../src/core/messages/commands/printed';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { chooseSessionCuts } from '../../src/core/condense/futureNeed/cuts';
import { NeededLineChecker } from '../../src/core/condense/futureNeed/kept';
import { findNeededLines, type NeededLine } from '../../src/core/condense/futureNeed/neededLater';
import { BUILT_IN_PRESETS } from '../../src/core/condense/providers/smart/presets';
import { losslessConfigSchema } from '../../src/core/condense/lossless/run';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import { createTestSummarizer } from '../../src/core/condense/summary/testing';
import type { ApiMessage } from '../../src/core/messages/types';
import { ALL_CORPUS_FOLDERS, sessionFiles } from './corpus';
import { makeCandidate, condense, freshCounter, type Candidate } from './measure';
import { table } from './table';

/** Shares of a session's turns after which it is condensed, and the target share of tokens. */
const CUT_SHARES = [0.3, 0.6, 0.9];
const TARGET = 0.5;

interface AblationMeasure {
  /** Number of o200k tokens removed. */
  readonly removed: number;
  /** Number of lost lines among those that the next 20 turns quoted. */
  readonly lost: number;
}

const NO_MEASURE: AblationMeasure = { removed: 0, lost: 0 };
const addMeasures = (a: AblationMeasure, b: AblationMeasure): AblationMeasure => ({
  removed: a.removed + b.removed,
  lost: a.lost + b.lost,
});

export interface AblationRow {
  readonly kind: 'operation' | 'operation before File-Aware' | 'program' | 'pass';
  readonly name: string;
  readonly agent: string;
  readonly sessions: number;
  /** Number of o200k tokens of the conversations, and number of needed lines. */
  readonly tokens: number;
  readonly needed: number;
  readonly all: AblationMeasure;
  readonly withoutPart: AblationMeasure;
}

type RowKey = Pick<AblationRow, 'kind' | 'name'>;

/** Adds up measures by part and agent. */
class AblationRows {
  readonly byKey = new Map<string, { -readonly [Key in keyof AblationRow]: AblationRow[Key] }>();

  add(agent: string, { kind, name }: RowKey, of: Pick<AblationRow, 'tokens' | 'needed' | 'all' | 'withoutPart'>): void {
    const key = `${kind}\n${name}\n${agent}`;
    const row = this.byKey.get(key) ?? {
      ...{ kind, name, agent, sessions: 0, tokens: 0, needed: 0, all: NO_MEASURE, withoutPart: NO_MEASURE },
    };
    row.sessions++;
    row.tokens += of.tokens;
    row.needed += of.needed;
    row.all = addMeasures(row.all, of.all);
    row.withoutPart = addMeasures(row.withoutPart, of.withoutPart);
    this.byKey.set(key, row);
  }
}

interface AblationOptions {
  /** Measures only sessions whose names contain this. */
  readonly sessions: string | undefined;
  /** Measures only this kind of part: `operation`, `program` or `pass`. */
  readonly way: string | undefined;
}

const ABLATE_BY_KIND = { operation: ablateOperations, program: ablatePrograms, pass: ablatePasses };

/** @param tell called with the progress of each session. */
export async function benchAblation(
  { sessions: only, way }: AblationOptions,
  tell: (text: string) => void,
): Promise<AblationRow[]> {
  const rows = new AblationRows();
  const kinds = Object.entries(ABLATE_BY_KIND).filter(([kind]) => way === undefined || way === kind);
  for (const session of sessionFiles(ALL_CORPUS_FOLDERS).filter(
    ({ name }) => only === undefined || name.includes(only),
  )) {
    for (const { agent, messages } of session.read(tell)) {
      tell(session.name);
      for (const [, ablate] of kinds) await ablate(rows, agent, messages);
    }
  }
  return [...rows.byKey.values()];
}

/** The operations of Lossless that are switched on by default. */
const OPERATIONS = Object.entries(losslessConfigSchema.parse({})).flatMap(([name, value]) =>
  value === true ? [name] : [],
);

const makeLosslessCandidate = (config: unknown): Candidate => makeCandidate('lossless', losslessProvider, config);

async function ablateOperations(rows: AblationRows, agent: string, messages: readonly ApiMessage[]): Promise<void> {
  const fullConversation: Condensable = { messages, needed: [] };
  const [tokens, all] = [countSize(messages), await measure(fullConversation, makeLosslessCandidate({}), undefined)];
  for (const name of [...OPERATIONS, 'all that are recoverable']) {
    const config = OPERATIONS.includes(name) ? { [name]: false } : { strictOnly: true };
    const withoutPart = await measure(fullConversation, makeLosslessCandidate(config), undefined);
    rows.add(agent, { kind: 'operation', name }, { tokens, needed: 0, all, withoutPart });
  }
}

/** All aliases of a program are left out together. */
const PROGRAM_NAMES = Map.groupBy(Object.keys(SIMULATED_PROGRAMS), (name) => SIMULATED_PROGRAMS[name]);

/**
 * For each simulated program, measures Lossless as if it could not predict what the program prints.
 * The messages are copied, because caches are keyed by object.
 */
async function ablatePrograms(rows: AblationRows, agent: string, messages: readonly ApiMessage[]): Promise<void> {
  const programsByName = SIMULATED_PROGRAMS as Record<string, SimulatedProgram>;
  const originals = { ...SIMULATED_PROGRAMS };
  const calledPrograms = new Set<string>();
  const measureLossless = async (): Promise<AblationMeasure> =>
    measure({ messages: structuredClone(messages), needed: [] }, makeLosslessCandidate({}), undefined);
  try {
    for (const [name, program] of Object.entries(originals))
      programsByName[name] = (call) => {
        calledPrograms.add(name);
        return program(call);
      };
    const all = await measureLossless();
    Object.assign(programsByName, originals);
    const tokens = countSize(messages);
    const usedProgramNames = [...PROGRAM_NAMES.values()].filter((names) =>
      names.some((name) => calledPrograms.has(name)),
    );
    for (const names of [...usedProgramNames, Object.keys(originals)]) {
      for (const name of names) Reflect.deleteProperty(programsByName, name);
      const name = names.length > 50 ? 'all programs' : (names[0] ?? '');
      rows.add(agent, { kind: 'program', name }, { tokens, needed: 0, all, withoutPart: await measureLossless() });
      Object.assign(programsByName, originals);
    }
  } finally {
    Object.assign(programsByName, originals);
  }
}

/** A fake model whose text matches no line of a file. */
const summarizer = createTestSummarizer(() => Promise.resolve('A summary of what was there. '.repeat(8)));
const smart = createSmartProvider({ select: () => Promise.resolve(selectSummarizer({ condensing: summarizer })) });

async function ablatePasses(rows: AblationRows, agent: string, messages: readonly ApiMessage[]): Promise<void> {
  for (const prefix of listPrefixes(messages)) {
    const { needed } = prefix;
    const tokens = countSize(prefix.messages);
    for (const target of [undefined, Math.floor(tokens * TARGET)]) {
      const targetText = target === undefined ? 'no target' : 'half of the tokens may stay';
      for (const preset of BUILT_IN_PRESETS) {
        const { passes = [] } = preset.config;
        const withAllPasses = await measure(prefix, makeCandidate(preset.id, smart, preset.config), target);
        for (const pass of passes) {
          const config = { ...preset.config, passes: passes.filter((other) => other !== pass) };
          const withoutPart = await measure(prefix, makeCandidate(preset.id, smart, config), target);
          const key = { kind: 'pass', name: `${preset.name}: ${pass.name}, ${targetText}` } as const;
          rows.add(agent, key, { tokens, needed: needed.length, all: withAllPasses, withoutPart });
        }
        if (preset.id !== 'file-aware' || target === undefined) continue;
        for (const name of OPERATIONS) {
          const config = { ...preset.config, losslessPrelude: { operations: { [name]: false } } };
          const withoutPart = await measure(prefix, makeCandidate(preset.id, smart, config), target);
          const key = { kind: 'operation before File-Aware', name } as const;
          rows.add(agent, key, { tokens, needed: needed.length, all: withAllPasses, withoutPart });
        }
      }
    }
  }
}

interface Condensable {
  readonly messages: readonly ApiMessage[];
  readonly needed: readonly NeededLine[];
}

/** Lists the prefixes of a session that contain lines needed by later turns. */
const listPrefixes = (messages: readonly ApiMessage[]): Condensable[] =>
  chooseSessionCuts(messages, { cuts: CUT_SHARES }).flatMap(({ cut, end }) => {
    const needed = findNeededLines(messages, cut, end);
    return needed.length === 0 ? [] : [{ messages: messages.slice(0, cut), needed }];
  });

const countSize = (messages: readonly ApiMessage[]): number => freshCounter().countMessages(messages);

async function measure(
  { messages, needed }: Condensable,
  way: Candidate,
  targetTokens: number | undefined,
): Promise<AblationMeasure> {
  const counter = freshCounter();
  const tokensBefore = counter.countMessages(messages);
  const { edits } = await condense(messages, way, counter, targetTokens === undefined ? {} : { targetTokens });
  const view = applyEdits(messages, edits);
  const lineChecker = new NeededLineChecker(view);
  return {
    removed: tokensBefore - counter.countMessages(view.messages),
    lost: needed.filter((line) => lineChecker.checkLine(line) !== 'verbatim').length,
  };
}

/**
 * Returns how many percentage points of tokens the part removes, and how many points of needed
 * lines would be lost in addition without it.
 */
export const computeWorth = ({ tokens, needed, all, withoutPart }: AblationRow): { removed: number; lost: number } => ({
  removed: (100 * (all.removed - withoutPart.removed)) / tokens,
  lost: needed === 0 ? 0 : (100 * (withoutPart.lost - all.lost)) / needed,
});

/** Shows each part with its total, and then with the agents for which it changes anything. */
export function ablationTable(rows: readonly AblationRow[]): string {
  const formatSigned = (points: number): string => `${points > 0 ? '+' : ''}${points.toFixed(2)}`;
  const formatShare = (part: number, whole: number): string =>
    whole === 0 ? '–' : `${((100 * part) / whole).toFixed(2)} %`;
  return [...Map.groupBy(rows, ({ kind }) => kind)]
    .map(([kind, own]) => {
      const cells = [...Map.groupBy(own, ({ name }) => name)].map(([name, agents]) => {
        const sum = agents.reduce<AblationRow>(
          (a, b) => ({
            ...a,
            sessions: a.sessions + b.sessions,
            tokens: a.tokens + b.tokens,
            needed: a.needed + b.needed,
            all: addMeasures(a.all, b.all),
            withoutPart: addMeasures(a.withoutPart, b.withoutPart),
          }),
          { kind, name, agent: 'all', sessions: 0, tokens: 0, needed: 0, all: NO_MEASURE, withoutPart: NO_MEASURE },
        );
        const worth = computeWorth(sum);
        const figuresByAgent = agents.flatMap((row) => {
          const { removed, lost } = computeWorth(row);
          if (removed === 0 && lost === 0) return [];
          return [`${row.agent} ${formatSigned(removed)}${lost === 0 ? '' : ` (lost ${formatSigned(lost)})`}`];
        });
        return [
          name,
          sum.sessions,
          formatShare(sum.all.removed, sum.tokens),
          formatSigned(worth.removed),
          formatShare(sum.all.lost, sum.needed),
          formatSigned(worth.lost),
          figuresByAgent.join(', '),
        ];
      });
      const head = [kind, 'conversations', 'removed', 'worth', 'lost', 'lost without it', 'by agent'];
      return table(head, cells);
    })
    .join('\n\n');
}
