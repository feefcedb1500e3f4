/**
 * `npm run bench:quality`: recall of every policy, then what each operation of Lossless takes out by itself.
 * `-- --half odd|even` takes every other conversation: tune on odd ones, report on even ones.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { loadCorpus, type BenchConversation } from './corpus';
import { freshCounter } from './measure';
import { providerPolicy } from './policies';
import { benchRecall, recallTable, type RecallRow } from './recallBench';
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { half: { type: 'string' }, json: { type: 'string' }, corpus: { type: 'string' } },
  });
  const corpus = loadCorpus((text) => {
    console.error(`!! ${text}`);
  }, values.corpus);
  const conversations = corpus.conversations.filter(
    (_, index) => values.half === undefined || (index % 2 === 0) === (values.half === 'odd'),
  );
  if (!corpus.isReal) console.log('## GENERATED CONVERSATIONS\n');
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
