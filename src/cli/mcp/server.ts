/**
 * Asks the gateway that `run` started; without one, reads ledgers itself. The separate bundle keeps
 * other commands from loading the SDK.
 */
import type { Readable, Writable } from 'node:stream';
import { MARKER_EXAMPLE } from '../../core/messages/markers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';
import { getErrorMessage } from '../../core/errors';
import { LineLengthLimiter } from './lineLimit';
import type { RecallResult } from '../../gateway/recall';
import { MAX_REFERENCES, MAX_SEARCH_CHARS } from '../../live/recall';
import type { RecallQuery } from '../../live/types';

export type RecallHandler = (query: RecallQuery) => Promise<RecallResult>;

const REFERENCES_SCHEMA = z
  .array(z.string().max(1_000))
  .max(MAX_REFERENCES)
  .describe(`References: the hexadecimal numbers behind "ref" in markers ${MARKER_EXAMPLE}.`);
const LINE_NUMBER_SCHEMA = z.number().int().min(1);
const MAX_TOKENS_SCHEMA = z
  .number()
  .int()
  .min(100)
  .max(20_000)
  .optional()
  .describe('Size of the answer; default 2,000 tokens.');

export function createMcpServer(recall: RecallHandler, version: string): McpServer {
  const server = new McpServer({ name: 'context-condenser', version });
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
  const answerQuery = async (query: RecallQuery) => {
    try {
      const { text, images = [] } = await recall(query);
      const imageParts = images.map(({ mediaType, data }) => ({ type: 'image' as const, data, mimeType: mediaType }));
      return { content: [{ type: 'text' as const, text }, ...imageParts] };
    } catch (error) {
      return {
        content: [{ type: 'text' as const, text: `Nothing was recalled: ${getErrorMessage(error)}` }],
        isError: true,
      };
    }
  };
  server.registerTool(
    'recall',
    {
      title: 'Recall condensed content',
      description: `Gives back, word for word, what was condensed out of this conversation and of which a marker ${MARKER_EXAMPLE} is left.`,
      inputSchema: {
        references: REFERENCES_SCHEMA,
        fromLine: LINE_NUMBER_SCHEMA.optional().describe('First line of what is wanted, from 1.'),
        toLine: LINE_NUMBER_SCHEMA.optional().describe('Last line of what is wanted.'),
        maxTokens: MAX_TOKENS_SCHEMA,
      },
      annotations,
    },
    ({ references, fromLine, toLine, maxTokens }) =>
      answerQuery({
        references,
        ...(fromLine !== undefined && { fromLine }),
        ...(toLine !== undefined && { toLine }),
        ...(maxTokens !== undefined && { maxTokens }),
      }),
  );
  server.registerTool(
    'search',
    {
      title: 'Search condensed content',
      description: 'Finds lines in what was condensed out of this conversation. Give words or a pattern.',
      inputSchema: {
        words: z
          .string()
          .max(MAX_SEARCH_CHARS)
          .optional()
          .describe('Words that a line must hold, in any order and case.'),
        pattern: z
          .string()
          .max(MAX_SEARCH_CHARS)
          .optional()
          .describe('A regular expression (JavaScript) that a line must match.'),
        maxTokens: MAX_TOKENS_SCHEMA,
      },
      annotations,
    },
    ({ words, pattern, maxTokens }) =>
      answerQuery({
        ...(words !== undefined && { words }),
        ...(pattern !== undefined && { pattern }),
        ...(maxTokens !== undefined && { maxTokens }),
      }),
  );
  return server;
}

/** Serves until its input ends or the signal aborts. */
export async function serveMcp(
  recall: RecallHandler,
  version: string,
  signal: AbortSignal,
  { stdin, stdout }: { readonly stdin: Readable; readonly stdout: Writable } = process,
): Promise<void> {
  const server = createMcpServer(recall, version);
  await server.connect(new StdioServerTransport(stdin.pipe(new LineLengthLimiter(stdout)), stdout));
  await new Promise<void>((resolve) => {
    const finishSession = (): void => {
      resolve();
    };
    stdin.once('end', finishSession);
    stdin.once('close', finishSession);
    if (signal.aborted) finishSession();
    signal.addEventListener('abort', finishSession);
  });
  await server.close();
}
