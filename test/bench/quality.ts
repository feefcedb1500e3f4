/**
 * `npm run bench:quality`: presets, and File-Aware against other tools' rules, written to docs/BENCHMARKS.md; recall of
 * every policy; then what each operation of Lossless takes out by itself. `-- --only presets|recall` does one of them.
 * `-- --half odd|even` takes every other conversation and shows the page without writing it: tune on odd ones; the page
 * reports on even ones.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { benchmarksPage } from './benchmarksPage';
import { loadCorpus, type BenchConversation } from './corpus';
import { freshCounter } from './measure';
import { providerPolicy } from './policies';
import { benchHeadline } from './headlineBench';
import { benchRecall, recallTable, type RecallRow } from './recallBench';
import { benchPresets, benchSizes } from './presetsBench';
import { measureRecall } from './recall';

/** The switches of Lossless, from its schema, so that a new operation is measured without a change here. */
function switches(): string[] {
  const { properties } = losslessProvider.getConfigSchema() as { properties: Record<string, { type?: string }> };
  return Object.entries(properties).flatMap(([name, { type }]) =>
    type === 'boolean' && name !== 'strictOnly' ? [name] : [],
  );
}

async function benchOperations(conversations: readonly BenchConversation[]): Promise<RecallRow[]> {
  const off = Object.fromEntries(switches().map((name) => [name, false]));
  const messages = conversations.map((conversation) => conversation.messages);
  const counter = freshCounter();
  const size = counter.messages.bind(counter);
  const rows: RecallRow[] = [];
  for (const name of switches()) {
    const policy = providerPolicy(losslessProvider, { ...off, [name]: true }, freshCounter());
    rows.push({
      group: 'Lossless, one operation at a time',
      policy: name,
      ...(await measureRecall(messages, policy, { size })),
    });
  }
  return rows;
}

const PAGE = 'docs/BENCHMARKS.md';

/** @param half every other conversation, from the first (odd) or the second (even). */
const halfOf = (conversations: readonly BenchConversation[], half: string | undefined): BenchConversation[] =>
  conversations.filter((_, index) => half === undefined || (index % 2 === 0) === (half === 'odd'));

const pageOf = async (conversations: readonly BenchConversation[], of: string): Promise<string> =>
  benchmarksPage(await benchPresets(conversations), await benchSizes(conversations), await benchHeadline(), of);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      half: { type: 'string' },
      json: { type: 'string' },
      corpus: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const { isReal, conversations: all } = loadCorpus((text) => {
    console.error(`!! ${text}`);
  }, values.corpus);
  if (!isReal) console.log('## GENERATED CONVERSATIONS\n');
  if (values.only !== 'recall') {
    const of = isReal ? 'every other of the real conversations' : 'GENERATED CONVERSATIONS';
    const page = await pageOf(halfOf(all, values.half ?? 'even'), of);
    // The page is the whole measure on the even half; a part that was asked for is only shown.
    if (values.half !== undefined) console.log(page);
    else {
      writeFileSync(PAGE, page);
      console.log(`${PAGE} written.\n`);
    }
  }
  if (values.only === 'presets') return;
  const conversations = halfOf(all, values.half);
  const recall = await benchRecall(conversations);
  console.log(`${recallTable(recall)}\n`);
  const operations = await benchOperations(conversations);
  console.log(recallTable(operations));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ recall, operations }, null, 2)}\n`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
