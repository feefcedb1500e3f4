import * as z from 'zod';
import { listContents, type Content } from '../../messages/content';
import { isSingleMarker } from '../../messages/markers';
import type { ApiMessage, ContentType } from '../../messages/types';
import { toJsonSchema, validateFields } from '../config';
import { Draft } from '../draft/draft';
import { runPipeline } from '../pipeline';
import type { PipelineStep } from '../draft/steps';
import { isImageTooLarge, removeImages, type ImageWithAge } from '../operations/oldImages';
import { findTruncatedSlice } from '../operations/truncate';
import {
  PROVIDER_DESCRIPTIONS,
  PROVIDER_NAMES,
  type CondensationOptions,
  type CondensationProvider,
  type ConversationContext,
  type ProviderCapabilities,
} from '../types';
import { findOldMessages } from '../../messages/zones';
import { createRestorerOfBrokenReferences } from '../lossless/integrity';

const keptPartSchema = z
  .enum(['head', 'tail', 'both'])
  .meta({ enumItemLabels: ['Beginning', 'End', 'Beginning and end'] });
const truncationModeSchema = z
  .enum(['keep', 'suppress', 'truncate'])
  .meta({ enumItemLabels: ['Keep', 'Remove', 'Shorten'] });
const countSchema = z.int().min(1).max(1_000_000);

interface TruncationDefaults {
  readonly mode: 'keep' | 'suppress' | 'truncate';
  readonly maxLines?: number;
  readonly maxChars?: number;
  readonly keep?: z.output<typeof keptPartSchema>;
}

const createTruncationSchema = (defaults: TruncationDefaults) =>
  z
    .object({
      mode: truncationModeSchema.default(defaults.mode),
      maxLines: countSchema.optional().describe('Lines to keep when shortening.'),
      maxChars: countSchema.optional().describe('Characters to keep when shortening.'),
      keep: keptPartSchema.default(defaults.keep ?? 'both').describe('Part to keep when shortening.'),
    })
    .strict()
    .transform((value) =>
      value.maxLines === undefined && value.maxChars === undefined
        ? { ...value, maxLines: defaults.maxLines, maxChars: defaults.maxChars }
        : value,
    );

const truncationConfigSchema = z
  .object({
    preserveRecentCount: z
      .int()
      .min(0)
      .max(100_000)
      .default(10)
      .describe('Number of newest messages that are left alone.'),
    // Keeping the end loses the fewest lines that agents need later: docs/research/truncation.md.
    toolResults: createTruncationSchema({ mode: 'truncate', maxLines: 20, maxChars: 2_000, keep: 'tail' }).prefault({}),
    toolParameters: createTruncationSchema({ mode: 'truncate', maxChars: 500 }).prefault({}),
    messageText: createTruncationSchema({ mode: 'truncate', maxChars: 2_000 }).prefault({}),
    images: z
      .object({
        mode: truncationModeSchema
          .exclude(['truncate'])
          .meta({ enumItemLabels: ['Keep', 'Remove'] })
          .default('suppress'),
        keepNewest: z
          .int()
          .min(0)
          .max(1000)
          .default(3)
          .describe('Number of newest images that are kept whatever their age.'),
        maxEdge: countSchema
          .optional()
          .describe('Removes images with an edge longer than this, in pixels, however new they are.'),
        maxBytes: z
          .int()
          .min(1)
          .optional()
          .describe('Removes images with more bytes than this, as base64, however new they are.'),
      })
      .strict()
      .prefault({}),
    preserveUserMessages: z.boolean().default(true).describe('Never changes what a user wrote.'),
    preserveAssistantText: z.boolean().default(true).describe('Never changes what the assistant wrote.'),
    minimumTokens: z.int().min(0).max(1_000_000).default(50).describe('Content with fewer tokens is left alone.'),
  })
  .strict();

export type TruncationConfig = z.output<typeof truncationConfigSchema>;
type TruncationOperation = TruncationConfig['toolResults'];

const TRUNCATION_STEP_NAME = PROVIDER_NAMES.truncation;

export const truncationProvider: CondensationProvider<TruncationConfig> = {
  id: 'truncation',
  name: PROVIDER_NAMES.truncation,
  description: PROVIDER_DESCRIPTIONS.truncation,
  version: '1.0.0',

  getCapabilities: (): ProviderCapabilities => ({
    supportsLossless: false,
    supportsBatchMode: false,
    supportsIndividualMode: true,
    supportsMultiPass: false,
    supportsLLMSummarization: false,
    estimatedSpeed: 'fast',
  }),
  getConfigSchema: () => toJsonSchema(truncationConfigSchema),
  validateConfig: (config) => validateFields(truncationConfigSchema, config),

  async condense(context, config, options) {
    const { draft, steps } = await runTruncation(context, config, options);
    return { edits: draft.edits, steps, cost: 0 };
  },
  async estimate(context, config, options) {
    const { draft, steps, tokensBefore } = await runTruncation(context, config, options);
    return { tokensBefore, tokensAfter: draft.tokens, steps, cost: 0, edits: draft.edits };
  },
};

async function runTruncation(context: ConversationContext, config: TruncationConfig, options: CondensationOptions) {
  const draft = new Draft(context.messages, context.counter, context.edits);
  const tokensBefore = draft.tokens;
  const steps = await runPipeline(draft, createTruncationSteps(config, options, context.pinned), {
    ...options,
    watchStep: createRestorerOfBrokenReferences(options.tools, options.signal),
  });
  draft.rememberDraftWithEdits();
  return { draft, steps, tokensBefore };
}

function createTruncationSteps(
  config: TruncationConfig,
  { targetTokens }: Pick<CondensationOptions, 'targetTokens'>,
  pinned: ReadonlySet<number> = new Set(),
): readonly PipelineStep[] {
  const truncateDraft = (draft: Draft, signal?: AbortSignal): void => {
    const zone = findOldMessages(draft.messages, config.preserveRecentCount);
    const isTargetMet = (): boolean => targetTokens !== undefined && draft.tokens <= targetTokens;
    const isOldImage = ({ message, newer }: ImageWithAge): boolean =>
      message < zone.end && newer >= config.images.keepNewest && !isTargetMet();
    const isRemoved = (image: ImageWithAge): boolean =>
      !pinned.has(image.message) && (isOldImage(image) || isImageTooLarge(image, config.images));
    // Images go first, because they have the most tokens and most results describe them in text.
    if (config.images.mode === 'suppress') removeImages(draft, TRUNCATION_STEP_NAME, isRemoved);
    for (let index = zone.start; index < zone.end; index++) {
      if (pinned.has(index)) continue;
      signal?.throwIfAborted();
      for (const content of listEditableContents(draft.messages[index], config)) {
        if (isTargetMet()) break;
        truncateContent(draft, index, content, config[content.type], config.minimumTokens);
      }
    }
  };
  return [{ name: TRUNCATION_STEP_NAME, run: truncateDraft }];
}

/** In reverse, so that slices of one string keep their offsets. */
function listEditableContents(message: ApiMessage | undefined, config: TruncationConfig): Content[] {
  if (!message || message.role === 'system') return [];
  const preservesText = message.role === 'user' ? config.preserveUserMessages : config.preserveAssistantText;
  return (
    listContents(message)
      .filter(({ type }) => config[type].mode !== 'keep' && !(type === 'messageText' && preservesText))
      // An image's marker is not text of the original.
      .filter(({ text }) => !isSingleMarker(text))
      .toReversed()
  );
}

const CONTENT_TYPE_LABELS: Readonly<Record<ContentType, string>> = {
  messageText: 'text',
  toolParameters: 'parameter',
  toolResults: 'result',
};

function truncateContent(
  draft: Draft,
  message: number,
  content: Content,
  operation: TruncationOperation,
  minimumTokens: number,
): void {
  const place = { message, path: content.path };
  const { type, start, end, text } = content;
  if (draft.counter.countText(text) < minimumTokens) return;
  if (operation.mode === 'suppress') {
    const request = { start, end, marker: `${CONTENT_TYPE_LABELS[type]} suppressed` };
    draft.cutText(TRUNCATION_STEP_NAME, place, [request], {
      contentType: type,
      operation: 'suppress',
      reason: 'suppressed as old',
      strict: false,
    });
    return;
  }
  const truncatedSlice = findTruncatedSlice(text, operation);
  if (!truncatedSlice) return;
  const sizeText =
    truncatedSlice.lines > 1
      ? `${truncatedSlice.lines} lines`
      : `${truncatedSlice.end - truncatedSlice.start} characters`;
  const request = {
    start: start + truncatedSlice.start,
    end: start + truncatedSlice.end,
    marker: `${sizeText} truncated`,
  };
  draft.cutText(TRUNCATION_STEP_NAME, place, [request], {
    contentType: type,
    operation: 'truncate',
    reason: 'truncated as old',
    strict: false,
  });
}
