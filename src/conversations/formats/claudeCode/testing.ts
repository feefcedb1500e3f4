import { type Fields, jsonl } from '../../../../test/fixtures/conversations/claudeCodeLines';
import type { ApiMessage, Block } from '../../../core/messages/types';
import { readClaudeCode } from './claudeCode';
import type { ReadOptions } from '../../types';

export const readRecords = (records: readonly Fields[], options: ReadOptions = {}) =>
  readClaudeCode(jsonl(...records), { path: '/home/me/session.jsonl' }, options);

/** Returns each message's role and its blocks in short form. */
export const outline = (messages: readonly ApiMessage[]): string[] =>
  messages.map((message) => `${message.role}: ${abbreviateContent(message)}`);

const abbreviateContent = (message: ApiMessage): string =>
  typeof message.content === 'string' ? message.content : message.content.map(abbreviateBlock).join(' ');

const abbreviateBlock = (block: Block): string => {
  const id = block['text'] ?? block['id'] ?? block['tool_use_id'];
  return typeof id === 'string' ? id : block.type;
};
