/** How long the replies of a scripted model are: a share of what it was given, give or take, as those of real models. */
import { hashText } from '../../src/core/hash';
import { outputLimit, type SummaryRequest } from '../../src/core/condense/summarizer';
import { placeholder } from '../../src/core/condense/summary/expectedOutput';
import { testModel } from '../../src/core/condense/summary/testing';

/** Share of a single content that its summary takes. */
const SHARE = 0.25;
/** o200k tokens of the shortest and the longest summary of a conversation: those of real agents (core/condense/summary/expectedOutput.ts). */
const CONVERSATION = { least: 1_300, most: 2_700 } as const;
const MIN_OF_CONTENT = 12;
/** A single content's request allows no more; a conversation's does. Tokens. */
const CONTENT_LIMIT = 2_000;
/** A single content's reply is up to so many times longer or shorter than the share says. */
const NOISE = 1.5;
const CHARS_PER_TOKEN = 4;
/** A request allows so many times what it asks for. */
const ALLOWED = 1.5;

/** The tokens that a request leaves for the summary: the scripted model does not think before it. */
export const roomForSummary = ({ maxOutputTokens }: SummaryRequest): number =>
  maxOutputTokens - outputLimit(0, testModel());

/** The same request gets the same reply: the noise follows from the prompt. */
export function scriptedReply(request: SummaryRequest): string {
  const { prompt } = request;
  const room = roomForSummary(request);
  const chance = Number.parseInt(hashText(prompt).slice(0, 8), 16) / 0xffffffff;
  const content = (SHARE * prompt.length * NOISE ** (2 * chance - 1)) / CHARS_PER_TOKEN;
  const { least, most } = CONVERSATION;
  return placeholder(
    Math.round(
      room < CONTENT_LIMIT
        ? Math.min(room / ALLOWED, Math.max(MIN_OF_CONTENT, content))
        : least * (most / least) ** chance,
    ),
  );
}
