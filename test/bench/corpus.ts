/** The conversations that are measured: real ones where the corpus lies beside the project, else generated ones. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { readConversationFile } from '../../src/conversations/readFile';
import type { ApiMessage } from '../../src/core/messages/types';
import { generateConversation } from '../generators/conversation';

export interface BenchConversation {
  readonly name: string;
  readonly format: string;
  readonly messages: readonly ApiMessage[];
}

export interface BenchCorpus {
  readonly isReal: boolean;
  readonly conversations: readonly BenchConversation[];
}

/** From the project root. */
const CORPUS = '../shared/corpus';
const WANTED = /(?:\.jsonl|api_conversation_history\.json|\.messages\.json)$/;
const GENERATED = [1, 2, 3, 4, 5, 6];

/** @param warn told what stands in the way of measuring real conversations. */
export function loadCorpus(warn: (text: string) => void, folder = CORPUS): BenchCorpus {
  if (!existsSync(folder)) {
    warn(
      `NO CORPUS at ${resolve(folder)}: what follows is measured on GENERATED conversations. --corpus FOLDER measures those in a folder of yours.`,
    );
    return { isReal: false, conversations: GENERATED.map(generated) };
  }
  const conversations = filesIn(folder).flatMap((file) => {
    try {
      const { format, messages } = readConversationFile(file);
      return [{ name: relative(folder, file), format, messages }];
    } catch (error) {
      warn(`left out: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  return { isReal: true, conversations };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && WANTED.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const generated = (seed: number): BenchConversation => ({
  name: `generated ${seed}`,
  format: 'generated',
  messages: generateConversation({ seed, targetTokens: 25_000 * seed }),
});
