/** Writes a conversation as a Claude Code transcript, with one line per block, result and text. */
import type { ApiMessage, Block } from '../../src/core/messages/types';
import type { Random } from './random';
import { randomText } from './session';

export interface TranscriptOptions {
  readonly cwd: string;
  readonly gitBranch: string;
  readonly version: string;
  readonly model: string;
  /** Time at which the conversation starts. */
  readonly start: Date;
}

const HEX = '0123456789abcdef';
const makeHex = (random: Random, length: number): string => Array.from({ length }, () => HEX[random.int(16)]).join('');
const uuid = (random: Random): string => [8, 4, 4, 4, 12].map((length) => makeHex(random, length)).join('-');

/** Returns the transcript as JSON Lines. */
export function toTranscript(messages: readonly ApiMessage[], random: Random, options: TranscriptOptions): string {
  const sessionId = uuid(random);
  const records: unknown[] = [];
  let parentUuid: string | null = null;
  let time = options.start.getTime();
  const addRecord = (
    type: 'user' | 'assistant',
    message: unknown,
    more: Readonly<Record<string, unknown>> = {},
  ): void => {
    const id = uuid(random);
    time += random.between(400, 9_000);
    records.push({
      parentUuid,
      isSidechain: false,
      userType: 'external',
      cwd: options.cwd,
      sessionId,
      version: options.version,
      gitBranch: options.gitBranch,
      type,
      message,
      uuid: id,
      timestamp: new Date(time).toISOString(),
      ...more,
    });
    parentUuid = id;
  };
  let sentCount = 0;
  for (const message of messages) {
    const blocks: readonly Block[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    if (message.role === 'assistant') {
      const envelope = {
        model: options.model,
        id: `msg_01${randomText(random, 22)}`,
        type: 'message',
        role: 'assistant',
      };
      const usage = {
        input_tokens: 4,
        cache_read_input_tokens: INSTRUCTION_AND_TOOL_TOKENS + Math.round(sentCount / CHARACTERS_PER_TOKEN),
        output_tokens: JSON.stringify(blocks).length >> 2,
      };
      const requestId = `req_011C${randomText(random, 20)}`;
      for (const block of blocks) {
        addRecord(
          'assistant',
          { ...envelope, content: [block], stop_reason: null, stop_sequence: null, usage },
          { requestId },
        );
      }
    } else if (typeof message.content === 'string') {
      addRecord('user', { role: 'user', content: message.content });
    } else {
      for (const block of blocks) addRecord('user', { role: 'user', content: [block] });
    }
    sentCount += JSON.stringify(blocks).length;
  }
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
/** Approximate tokens that Claude Code sends in addition to the messages. */
const INSTRUCTION_AND_TOOL_TOKENS = 16_000;
/** Four characters per o200k token, and about 1.18 of the vendor's tokens per o200k token. */
const CHARACTERS_PER_TOKEN = 3.4;
