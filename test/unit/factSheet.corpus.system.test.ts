/**
 * Compares the fact sheet with the real agent's summaries of the same conversations
 * (../shared/corpus).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConversationFile } from '../../src/conversations/readFile';
import { collectConversationFacts, renderFactSheet } from '../../src/core/condense/summary/factSheet';
import { collectInstructions } from '../../src/core/condense/summary/instructions';
import { listContents } from '../../src/core/messages/content';
import { listToolExchanges } from '../../src/core/messages/exchanges';
import { DEFAULT_TOOLS } from '../../src/core/messages/tools';
import { freshCounter } from '../generators/setups';

const CORPUS = join(import.meta.dirname, '../../../shared/corpus/claude-code');
const present = existsSync(CORPUS);
if (!present) console.warn(`NOT TESTED: the real conversations are not at ${CORPUS}`);

/** Matches paths and file names; only those in the conversation count. */
const FILES = /(?:[\w.@~-]*\/)*[\w.@-]*[\w-]\.[A-Za-z]\w{0,5}\b/g;
const IDENTIFIERS = /\b(?:[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[a-z]+_\w+)\b/g;

const kept = (pattern: RegExp, text: string, prefix: string): Set<string> =>
  new Set((text.match(pattern) ?? []).filter((found) => prefix.includes(found)));

/** Returns the names of files without their folders, so that each file counts once. */
const fileNames = (text: string, prefix: string): Set<string> =>
  new Set([...kept(FILES, text, prefix)].filter((path) => path.includes('/')).map((path) => path.replace(/^.*\//, '')));

/** An instruction counts as kept if this many characters of its beginning are in the text. */
const RUN = 40;
const squeezed = (text: string): string => text.replace(/[\s"'`]+/g, ' ').toLowerCase();
const isKept = (instruction: string, text: string): boolean =>
  squeezed(text).includes(squeezed(instruction).trim().slice(0, RUN).trim());

describe.skipIf(!present)('the fact sheet keeps at least as many facts as the real agent’s summary kept', () => {
  it.each(['01', '02', '03'])('in transcript-%s', (name) => {
    const { messages } = readConversationFile(join(CORPUS, `transcript-${name}.jsonl`), { history: 'all' });
    const at = messages.findIndex((message) => message['isCompactSummary'] === true);
    const before = messages.slice(0, at);
    const prefix = before.flatMap((message) => listContents(message).map(({ text }) => text)).join('\n');
    const real = listContents(messages[at]!)
      .map(({ text }) => text)
      .join('\n');
    const counter = freshCounter();
    const facts = collectConversationFacts(before, DEFAULT_TOOLS);
    const sheet = renderFactSheet(facts, counter);
    // The sheet states the paths' folder only once, so the complete paths of the files that it
    // lists are added.
    const whole = `${sheet}\n${facts.files.map(({ path }) => (sheet.includes(path.split('/').at(-1) ?? path) ? path : '')).join('\n')}`;
    const instructions = collectInstructions(before, listToolExchanges(before)).map(({ text }) => text);
    const figures = (text: string) => ({
      files: fileNames(text, prefix).size,
      instructions: instructions.filter((instruction) => isKept(instruction, text)).length,
      identifiers: kept(IDENTIFIERS, text, prefix).size,
      tokens: counter.countText(text),
    });
    const ours = { ...figures(whole), tokens: counter.countText(sheet) };
    const theirs = figures(real);
    console.log(`transcript-${name}, of ${instructions.length} instructions:`, { ours, theirs });
    expect(ours.files).toBeGreaterThanOrEqual(theirs.files);
    expect(ours.instructions).toBeGreaterThanOrEqual(theirs.instructions);
  });
});
