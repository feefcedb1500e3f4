/**
 * `npm run bench:quality` measures every provider, and compares File-Aware with other tools' rules,
 * for docs/research/benchmarks.md. Then it measures the recall of every policy, and what each
 * operation of Lossless removes by itself.
 * - `-- --only page|recall|need` does one of them; `need` is the page's section about projects that
 *   the weights were not fitted on.
 * - `--cache FILE` keeps the features of that section in a file.
 * - `-- --corpus FOLDER` measures the transcripts in a folder, and writes dist/benchmarks.md.
 * - `-- --half odd|even` measures every other conversation, and prints the page without writing it.
 *   Tune on the odd ones; the project's page reports on the even ones.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { benchmarksPage } from './benchmarksPage';
import { loadCorpus, type BenchConversation } from './corpus';
import { cutsFrom } from './fitCuts';
import { freshCounter } from './measure';
import { benchLossless } from './losslessBench';
import { NEW_RESULTS_TITLE } from './newResultsSection';
import { NEED_PICTURE, NEED_TITLE, needSection } from './needSection';
import { getSection, replaceSection } from './pageSection';
import { providerPolicy } from './policies';
import { benchHeadline } from './headlineBench';
import { benchRetention, retentionTable, type RetentionRow } from './retentionBench';
import { benchSizes } from './peersBench';
import { measureRetention } from './retention';
import { benchChoices } from './choicesBench';

/** Reads the switches from Lossless's schema, so that new operations are included. */
function listSwitches(): string[] {
  const { properties } = losslessProvider.getConfigSchema() as { properties: Record<string, { type?: string }> };
  return Object.entries(properties).flatMap(([name, { type }]) =>
    type === 'boolean' && name !== 'strictOnly' ? [name] : [],
  );
}

async function benchOperations(conversations: readonly BenchConversation[]): Promise<RetentionRow[]> {
  const allOff = Object.fromEntries(listSwitches().map((name) => [name, false]));
  const messages = conversations.map((conversation) => conversation.messages);
  const counter = freshCounter();
  const size = counter.countMessages.bind(counter);
  const rows: RetentionRow[] = [];
  for (const name of listSwitches()) {
    const policy = providerPolicy(losslessProvider, { ...allOff, [name]: true }, freshCounter());
    rows.push({
      group: 'Lossless, one operation at a time',
      policy: name,
      ...(await measureRetention(messages, policy, { size })),
    });
  }
  return rows;
}

const PROJECT_PAGE = 'docs/research/benchmarks.md';
const OWN_PAGE = 'dist/benchmarks.md';

/** @param half selects every other conversation, from the first (odd) or the second (even). */
const takeHalf = (conversations: readonly BenchConversation[], half: string | undefined): BenchConversation[] =>
  conversations.filter((_, index) => half === undefined || (index % 2 === 0) === (half === 'odd'));

const makePage = async (
  conversations: readonly BenchConversation[],
  of: string,
  need: string | undefined,
): Promise<string> =>
  benchmarksPage(await benchChoices(conversations), await benchSizes(conversations), await benchHeadline(), of, need);

/**
 * Writes the section on unseen projects with its picture, for the corpora or a folder; undefined if
 * there are fewer than two projects.
 */
async function needPart(
  folders: readonly string[],
  cache: string | undefined,
  beside: string,
): Promise<string | undefined> {
  const cuts = await cutsFrom(folders, cache);
  if (new Set(cuts.map(({ project }) => project)).size < 2) return undefined;
  const { text, picture } = needSection(cuts, folders.length > 0 ? [] : await benchLossless());
  const pictureFile = join(dirname(beside), NEED_PICTURE);
  mkdirSync(dirname(pictureFile), { recursive: true });
  writeFileSync(pictureFile, picture);
  return text;
}

const readIfPresent = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/**
 * Keeps the section that `npm run bench -- --only new-results` wrote, because it is not measured
 * here.
 */
function keepNewResultsSection(page: string, file: string): string {
  const section = getSection(readIfPresent(file), NEW_RESULTS_TITLE);
  return section === undefined ? page : replaceSection(page, NEW_RESULTS_TITLE, section);
}

/** Describes the measured conversations. */
function sourceText(isReal: boolean, isOwn: boolean): string {
  if (!isReal) return 'Measured on GENERATED conversations: no real ones were at hand.';
  if (isOwn) return 'Measured on the conversations of a folder.';
  return 'Measured on every other one of the real conversations that the project was developed with; the presets were tuned on the others.';
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      half: { type: 'string' },
      json: { type: 'string' },
      corpus: { type: 'string' },
      only: { type: 'string' },
      cache: { type: 'string' },
    },
  });
  const { isReal, conversations: all } = loadCorpus((text) => {
    console.error(`!! ${text}`);
  }, values.corpus);
  if (!isReal) console.log('## GENERATED CONVERSATIONS\n');
  const isUserCorpus = values.corpus !== undefined;
  // The project's page must contain only figures of real conversations.
  const pageFile = isReal && !isUserCorpus ? PROJECT_PAGE : OWN_PAGE;
  const makeNeedText = (): Promise<string | undefined> =>
    needPart(values.corpus === undefined ? [] : [values.corpus], values.cache, pageFile);
  if (values.only === 'need') {
    const needText = await makeNeedText();
    if (needText === undefined) throw new Error('found needed lines in sessions of fewer than two projects');
    writeFileSync(pageFile, replaceSection(readIfPresent(pageFile), NEED_TITLE, needText));
    console.log(`${pageFile} written.`);
    return;
  }
  if (values.only !== 'recall') {
    const measuredConversations = takeHalf(all, values.half ?? (isUserCorpus ? undefined : 'even'));
    const page = await makePage(measuredConversations, sourceText(isReal, isUserCorpus), await makeNeedText());
    // The page is written only if everything was measured; otherwise it is printed.
    if (values.half !== undefined) console.log(page);
    else {
      writeFileSync(pageFile, keepNewResultsSection(page, pageFile));
      console.log(`${pageFile} written.\n`);
    }
  }
  if (values.only === 'page') return;
  const conversations = takeHalf(all, values.half);
  const retention = await benchRetention(conversations);
  console.log(`${retentionTable(retention)}\n`);
  const operations = await benchOperations(conversations);
  console.log(retentionTable(operations));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ retention, operations }, null, 2)}\n`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
