import { maskSecrets } from '../core/secrets/maskSecrets';
import { join, resolve } from 'node:path';
import { formatNoteLine, getNoteText } from '../conversations/notes';
import type { Conversation } from '../conversations/types';
import {
  CondensationManager,
  createProviders,
  type CondensationProvider,
  type CondensationRequest,
} from '../core/condense';
import { MessageCounter } from '../core/tokens/messageCounter';
import { isKnownModel, getTokenizerFactor } from '../core/vendors/families';
import { ENGINE_BUNDLE } from '../engine/engineThread';
import { readConversationOnce } from '../engine/readConversation';
import { loadTokenCounter } from '../storage/assets';
import type { SessionArguments } from './args';
import { readPresetFileName, readConfig } from './config';
import { resolveStoreFolder } from './output';
import type { CliIo } from './io';

export interface CliSession {
  readonly args: SessionArguments;
  readonly io: CliIo;
  readonly conversation: Conversation;
  readonly counter: MessageCounter;
  readonly manager: CondensationManager;
  /** Folder of the ledgers. */
  readonly store: string;
  /** Converts o200k tokens to the tokens of the selected model. */
  readonly calibrate: (tokens: number) => number;
}

/** @throws ConversationReadError if the file is unreadable */
export async function openSession(args: SessionArguments, io: CliIo): Promise<CliSession> {
  const store = await resolveStoreFolder(args.store, io);
  io.showProgress?.('Reading …');
  const [conversation, tokens] = await Promise.all([
    readConversationOnce(join(io.assets, ENGINE_BUNDLE), resolve(args.file), { history: args.history }, io.signal),
    loadTokenCounter(io.assets),
  ]);
  // `inspect` lists these problems itself; `undo` follows a command that already reported them.
  const isReportedElsewhere = args.command === 'undo' || args.command === 'inspect';
  const note = isReportedElsewhere
    ? undefined
    : formatNoteLine(conversation.notes.map(getNoteText), 'see `inspect` of the same file');
  if (note !== undefined) io.stderr(`Note: ${maskSecrets(note)}\n`);
  if (args.model !== undefined && !isKnownModel(args.model))
    io.stderr(`Note: The tokenizer of the model "${args.model}" is not known: tokens are counted with o200k.\n`);
  const counter = new MessageCounter(tokens);
  const tokenFactor = getTokenizerFactor(args.model);
  return {
    args,
    io,
    conversation,
    counter,
    manager: new CondensationManager(counter, createProviders()),
    store,
    calibrate: (count) => Math.round(count * tokenFactor),
  };
}

const WITHOUT_MODEL_NOTE =
  'Note: The current choice can call a model, but the command line calls none. What would be summarized is truncated or kept.\n';

/**
 * Counts all messages, and shows progress.
 * @throws the signal's reason if aborted
 */
export function countTokensWithProgress({ io, conversation: { messages }, counter }: CliSession): void {
  for (const [index, message] of messages.entries()) {
    io.showProgress?.(`Counting tokens: message ${index + 1} of ${messages.length}`);
    counter.countMessage(message);
  }
}

/** @throws UsageError for an invalid configuration */
export async function makeCondensationRequest(
  session: CliSession,
  provider: CondensationProvider,
): Promise<CondensationRequest> {
  const { args, io, conversation, manager } = session;
  const config = await readConfig(args, provider, (sentence) => {
    io.stderr(`Note: ${sentence}\n`);
  });
  if (manager.mayCallModel(provider.id, config ?? {})) io.stderr(WITHOUT_MODEL_NOTE);
  countTokensWithProgress(session);
  return {
    conversation: conversation.id,
    messages: conversation.messages,
    provider: provider.id,
    config,
    configName: await readPresetFileName(args),
    trigger: 'manual',
    signal: io.signal,
    onProgress: ({ step, done, total }) =>
      io.showProgress?.(step === '' ? 'Checking …' : `${step} (${done + 1} of ${total})`),
    ...getTargetOption(session),
  };
}

/**
 * Returns the target from `--target-tokens`, converted from the selected model's tokens to o200k.
 */
const getTargetOption = ({ args, calibrate }: CliSession): { targetTokens?: number } =>
  args.targetTokens === undefined ? {} : { targetTokens: Math.floor((args.targetTokens * 1e6) / calibrate(1e6)) };
