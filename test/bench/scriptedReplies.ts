/**
 * Determines how long a scripted model's replies are: a noisy share of the input, as with real
 * models.
 */
import { hashText } from '../../src/core/hash';
import { computeOutputLimit, type SummaryRequest } from '../../src/core/condense/summarizer';
import { createPlaceholderText } from '../../src/core/condense/summary/expectedOutput';
import { makeTestModel } from '../../src/core/condense/summary/testing';

/** Summary length as a share of a single content. */
const SUMMARY_SHARE = 0.25;
/**
 * Number of o200k tokens of the shortest and the longest conversation summary by real agents
 * (core/condense/summary/expectedOutput.ts).
 */
const CONVERSATION_SUMMARY_TOKENS = { least: 1_300, most: 2_700 } as const;
const MIN_CONTENT_SUMMARY_TOKENS = 12;
/** Maximum tokens of a request about a single content. */
const CONTENT_LIMIT = 2_000;
/** Largest factor by which a reply deviates. */
const NOISE_FACTOR = 1.5;
const CHARS_PER_TOKEN = 4;
/** Ratio of the allowed to the requested length. */
const ALLOWED_LENGTH_FACTOR = 1.5;

/** Returns the tokens that are available for the summary; the scripted model doesn't think. */
export const roomForSummary = ({ maxOutputTokens }: SummaryRequest): number =>
  maxOutputTokens - computeOutputLimit(0, makeTestModel());

/** Creates a reply whose length depends only on the prompt, from which the noise is derived. */
export function scriptedReply(request: SummaryRequest): string {
  const { prompt } = request;
  const availableTokens = roomForSummary(request);
  const noiseSource = Number.parseInt(hashText(prompt).slice(0, 8), 16) / 0xffffffff;
  const contentSummaryTokens =
    (SUMMARY_SHARE * prompt.length * NOISE_FACTOR ** (2 * noiseSource - 1)) / CHARS_PER_TOKEN;
  const { least, most } = CONVERSATION_SUMMARY_TOKENS;
  return createPlaceholderText(
    Math.round(
      availableTokens < CONTENT_LIMIT
        ? Math.min(availableTokens / ALLOWED_LENGTH_FACTOR, Math.max(MIN_CONTENT_SUMMARY_TOKENS, contentSummaryTokens))
        : least * (most / least) ** noiseSource,
    ),
  );
}
