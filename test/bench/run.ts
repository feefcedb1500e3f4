/**
 * Usage: npm run bench -- [--only PART] [--json FILE] [--corpus FOLDER] [--full] [--sessions
 * NUMBER|TEXT] [--way NAME]; the parts are in `BENCH_PARTS`. Runs in the project's root with --expose-gc.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ablationTable, benchAblation } from './ablationBench';
import { accountTable, benchAccount, benchReplay, replayTable } from './accountBench';
import { benchCalls, callsTable } from './callsBench';
import { loadAllSessions, loadCorpus, type BenchCorpus } from './corpus';
import { benchNewResults } from './newResultsBench';
import { NEW_RESULTS_TITLE, newResultsSection, newResultsTable } from './newResultsSection';
import { replaceSection } from './pageSection';
import { benchCurve, curveTable } from './curveBench';
import { benchEstimates, estimatesTable } from './estimatesBench';
import { benchGateway, gatewayTable } from './gatewayBench';
import { benchHeadline, HEADLINE_COLUMNS, headlineCells } from './headlineBench';
import { benchHostile, hostileTable } from './hostileBench';
import { benchIncremental, incrementalTable } from './incrementalBench';
import { benchLive, liveTable } from './liveBench';
import { benchLossless, losslessTable } from './losslessBench';
import { benchMasking, maskingTable } from './maskingBench';
import { benchPreview, previewTable } from './previewBench';
import { benchPresetMemory, benchPresetTimes, presetMemoryTable, presetTimesTable } from './presetTimeBench';
import { benchObsolete, obsoleteTable } from './obsoleteBench';
import { benchProviders, providersTable } from './providersBench';
import { benchReading, readingTable } from './readingBench';
import { benchRetention, retentionTable } from './retentionBench';
import { benchStart, startTable } from './startBench';
import { benchSteps, stepsTable } from './stepsBench';
import { benchStores, storesTable } from './storesBench';
import { table } from './table';
import { benchTokens } from './tokens';
import { benchTruncation, truncationTable } from './truncationBench';
import { benchWhole, wholeTable } from './wholeBench';

const PAGE = 'docs/research/benchmarks.md';

const BENCH_PARTS = [
  'providers',
  'steps',
  'ablation',
  'lossless',
  'curve',
  'whole',
  'incremental',
  'hostile',
  'masking',
  'retention',
  'truncation',
  'obsolete',
  'tokens',
  'live',
  'new-results',
  'preview',
  'estimates',
  'gateway',
  'reading',
  'stores',
  'account',
  'replay',
  'headline',
  'presets',
  'calls',
  'start',
] as const;
type BenchPart = (typeof BENCH_PARTS)[number];

const isPart = (name: string): name is BenchPart => (BENCH_PARTS as readonly string[]).includes(name);

interface BenchOptions {
  /** Uses the sizes from the requirements, which may take long. */
  readonly isFull: boolean;
  /**
   * Measures only this many recorded sessions, evenly spread, or those whose names contain this
   * text. The page isn't written then.
   */
  readonly sessions: string | undefined;
  /** For the ablation, the kind of part to leave out. */
  readonly way: string | undefined;
}

/** A part that returns a table and data. If it prints by itself, it has no table. */
interface PartBench {
  readonly title: string;
  readonly isOnCorpus: boolean;
  run(corpus: BenchCorpus, options: BenchOptions): Promise<{ text: string; data: unknown }>;
}

const BENCH_BY_PART: Readonly<Record<BenchPart, PartBench>> = {
  providers: {
    title: 'Providers, tokens counted before (o200k), median of 5',
    isOnCorpus: true,
    async run({ conversations }) {
      const data = await benchProviders(conversations);
      return { text: providersTable(data), data };
    },
  },
  steps: {
    title: 'Lossless, what each step takes out of whole conversations, by agent',
    isOnCorpus: true,
    async run({ isReal, conversations }) {
      const data = await benchSteps(isReal ? loadAllSessions((text) => console.error(`!! ${text}`)) : conversations);
      return { text: stepsTable(data), data };
    },
  },
  ablation: {
    title: 'What each operation, simulated program and pass is worth: everything, then all but this one',
    isOnCorpus: false,
    async run(_corpus, options) {
      const data = await benchAblation(options, (text) => {
        console.error(`   ${text}`);
      });
      return { text: data.length > 0 ? ablationTable(data) : 'no real sessions beside the project', data };
    },
  },
  whole: {
    title: 'A condensation of 200K tokens from the file to the ledger, and the provider alone in it; median of 7',
    isOnCorpus: false,
    async run() {
      const data = await benchWhole();
      return { text: wholeTable(data), data };
    },
  },
  lossless: {
    title: 'Lossless by agent, beside the bound that brute force finds: shares of the text of messages and tools',
    isOnCorpus: false,
    async run() {
      const data = await benchLossless();
      return { text: data.length > 0 ? losslessTable(data) : 'no real sessions beside the project', data };
    },
  },
  calls: {
    title: 'Sixty summaries, six at once, a server that answers after 200 ms, median of 5',
    isOnCorpus: false,
    async run() {
      const data = await benchCalls();
      return { text: callsTable(data), data };
    },
  },
  start: {
    title: 'Start of the command line, and the bundles that the editor loads; in turns, median of 20',
    isOnCorpus: false,
    run() {
      const data = benchStart();
      return Promise.resolve({ text: startTable(data), data });
    },
  },
  presets: {
    title:
      'Lossless and presets without a model on 200K tokens, tokens counted before, median of 5; memory that is alive beside the messages',
    isOnCorpus: true,
    async run({ conversations }) {
      const data = { times: await benchPresetTimes(conversations), memory: await benchPresetMemory() };
      return { text: `${presetTimesTable(data.times)}\n\n${presetMemoryTable(data.memory)}`, data };
    },
  },
  headline: {
    title: 'Three presets on three kinds of generated conversations, beside the figures of the specification',
    isOnCorpus: false,
    async run() {
      const data = await benchHeadline();
      return { text: table(HEADLINE_COLUMNS, headlineCells(data)), data };
    },
  },
  curve: {
    title: 'The curve, generated conversations',
    isOnCorpus: false,
    async run() {
      const data = await benchCurve();
      return { text: curveTable(data), data };
    },
  },
  incremental: {
    title: 'Lossless when messages are added, generated conversations, processor time',
    isOnCorpus: false,
    async run() {
      const data = await benchIncremental();
      return { text: incrementalTable(data), data };
    },
  },
  hostile: {
    title: 'Lossless on hostile texts, processor time',
    isOnCorpus: false,
    async run() {
      const data = await benchHostile();
      return { text: hostileTable(data), data };
    },
  },
  masking: {
    title: 'Masking of keys, processor time',
    isOnCorpus: false,
    run() {
      const data = benchMasking();
      return Promise.resolve({ text: maskingTable(data), data });
    },
  },
  retention: {
    title: 'Future-need recall, next 20 turns, 95 % intervals by session',
    isOnCorpus: true,
    async run({ conversations }) {
      const data = await benchRetention(conversations);
      return { text: retentionTable(data), data };
    },
  },
  obsolete: {
    title: 'What later texts replace and Lossless leaves, by agent: shares of all tokens',
    isOnCorpus: false,
    async run() {
      const data = await benchObsolete((text) => {
        console.error(`!! ${text}`);
      });
      return { text: data.length > 0 ? obsoleteTable(data) : 'no real sessions beside the project', data };
    },
  },
  truncation: {
    title:
      'Truncation on recorded sessions, by agent: what it removes, and what it loses of lines that the next 20 turns quote',
    isOnCorpus: false,
    async run() {
      const data = await benchTruncation((text) => {
        console.error(`   ${text}`);
      });
      return { text: data.length > 0 ? truncationTable(data) : 'no real sessions beside the project', data };
    },
  },
  live: {
    title: 'Live conversations, overhead of a request',
    isOnCorpus: false,
    async run() {
      const data = await benchLive();
      return { text: liveTable(data), data };
    },
  },
  'new-results': {
    title: 'New results, recorded sessions request by request, o200k tokens',
    isOnCorpus: false,
    async run(_corpus, { sessions }) {
      const data = await benchNewResults(sessions, (text) => {
        console.error(`   ${text}`);
      });
      if (sessions === undefined && data.length > 0) {
        writeFileSync(PAGE, replaceSection(readFileSync(PAGE, 'utf8'), NEW_RESULTS_TITLE, newResultsSection(data)));
        console.log(`${PAGE} written.\n`);
      }
      const points = data.map((point) => ({
        ...point,
        with: { ...point.with, times: undefined },
        without: { ...point.without, times: undefined },
      }));
      return { text: data.length > 0 ? newResultsTable(data) : 'no real sessions beside the project', data: points };
    },
  },
  gateway: {
    title: 'Time to the first byte through the gateway, beside a plain proxy; median / p99',
    isOnCorpus: false,
    async run() {
      const data = await benchGateway();
      return { text: gatewayTable(data), data };
    },
  },
  preview: {
    title: 'Preview, from a change to the answer of its worker, generated conversation',
    isOnCorpus: false,
    async run() {
      const data = await benchPreview();
      return { text: previewTable(data), data };
    },
  },
  estimates: {
    title: 'Estimates of all choices on 200K tokens, tokens counted before, median of 5',
    isOnCorpus: true,
    async run({ conversations }) {
      const data = await benchEstimates(conversations);
      return { text: estimatesTable(data), data };
    },
  },
  tokens: {
    title: 'Token counter',
    isOnCorpus: false,
    async run() {
      return { text: '', data: await benchTokens() };
    },
  },
  reading: {
    title: 'What reading real sessions gives',
    isOnCorpus: false,
    async run() {
      const data = await benchReading();
      return { text: readingTable(data), data: { ...data, formats: Object.fromEntries(data.formats) } };
    },
  },
  stores: {
    title: 'The list of all conversations on a machine',
    isOnCorpus: false,
    async run(_corpus, { isFull }) {
      const data = await benchStores(isFull ? 3e9 : 1e8);
      return { text: storesTable(data), data };
    },
  },
  account: {
    title: 'The account of all conversations on a machine',
    isOnCorpus: false,
    async run(_corpus, { isFull }) {
      const data = await benchAccount(isFull ? 3e9 : 1e8);
      return { text: accountTable(data), data };
    },
  },
  replay: {
    title: 'Requests made again beside what agents recorded of them, the second halves of real sessions',
    isOnCorpus: false,
    async run() {
      const data = await benchReplay();
      return { text: data.length > 0 ? replayTable(data) : 'no real sessions beside the project', data };
    },
  },
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      json: { type: 'string' },
      corpus: { type: 'string' },
      full: { type: 'boolean', default: false },
      sessions: { type: 'string' },
      way: { type: 'string' },
    },
  });
  const wantedParts = values.only ?? BENCH_PARTS;
  const unknown = wantedParts.find((name) => !isPart(name));
  if (unknown !== undefined) {
    console.error(`--only ${unknown}: found no such part; there are ${BENCH_PARTS.join(', ')}`);
    return 2;
  }
  const corpus = loadCorpus((text) => {
    console.error(`!! ${text}`);
  }, values.corpus);
  const results: Record<string, unknown> = { isRealCorpus: corpus.isReal };
  for (const part of wantedParts.filter(isPart)) {
    const bench = BENCH_BY_PART[part];
    console.log(`\n## ${bench.title}${bench.isOnCorpus && !corpus.isReal ? ': GENERATED CONVERSATIONS' : ''}\n`);
    const { text, data } = await bench.run(corpus, {
      isFull: values.full,
      sessions: values.sessions,
      way: values.way,
    });
    console.log(text);
    results[part] = data;
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  return 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
