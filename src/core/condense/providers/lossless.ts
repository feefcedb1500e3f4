import { z } from 'zod';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import { jsonSchema, validate } from '../config';
import { Draft } from '../draft';
import { repeatedCommands, repeatedListings, similarResults } from '../lossless/consolidation';
import { duplicateReads, duplicateResults } from '../lossless/duplicates';
import { obsoleteState } from '../lossless/obsoleteState';
import { runSteps, type DraftStep } from '../steps';
import type { CondensationProvider, ProviderCapabilities } from '../types';

const toolRule = z
  .object({
    kind: z.enum(['read', 'list', 'search', 'command', 'write', 'edit', 'plan']).describe('What the tool does.'),
    path: z.array(z.string().min(1)).optional().describe('Parameters that may name the file or folder.'),
  })
  .strict()
  .transform(({ kind, path }) => (path ? { kind, path } : { kind }));

const configSchema = z
  .object({
    deduplicateFileReads: z.boolean().default(true).describe('Reads of one file that gave the same text stand once.'),
    deduplicateResults: z.boolean().default(true).describe('Any other results with the same text stand once.'),
    consolidateToolResults: z
      .boolean()
      .default(true)
      .describe('Repeated listings, searches and commands, and small similar results, are merged.'),
    removeObsoleteState: z
      .boolean()
      .default(true)
      .describe('Environment details and plans that a later one supersedes keep only what differs.'),
    keep: z.enum(['latest', 'first']).default('latest').describe('Which of several equal copies stays.'),
    strictOnly: z
      .boolean()
      .default(false)
      .describe('Leave out only what stands elsewhere in the view, nothing that stands only in the reference store.'),
    tools: z.record(z.string(), toolRule).default({}).describe('Rules for tools of other agents, by tool name.'),
  })
  .strict();

/** Settings of the Lossless provider, all with defaults. */
export type LosslessConfig = z.output<typeof configSchema>;

/** Takes out what stands elsewhere; every byte can be had back. */
export const losslessProvider: CondensationProvider<LosslessConfig> = {
  id: 'lossless',
  name: 'Lossless',
  description: 'Takes out repeated content and leaves references to it. Free; every byte can be had back.',
  version: '1.0.0',

  getCapabilities: (): ProviderCapabilities => ({
    supportsLossless: true,
    supportsBatchMode: false,
    supportsIndividualMode: false,
    supportsMultiPass: false,
    supportsLLMSummarization: false,
    estimatedSpeed: 'fast',
  }),
  getConfigSchema: () => jsonSchema(configSchema),
  validateConfig: (config) => validate(configSchema, config),

  async condense(context, config, options) {
    return runSteps(new Draft(context.messages, context.counter, context.edits), losslessSteps(config), options);
  },
  async estimateReduction(context, config, options) {
    const draft = new Draft(context.messages, context.counter, context.edits);
    const tokensBefore = draft.tokens;
    const { steps } = await runSteps(draft, losslessSteps(config), options);
    return { tokensBefore, tokensAfter: draft.tokens, steps };
  },
  estimateCost: () => Promise.resolve(0),
};

/** The configured operations in order; also the prelude of other providers. */
export function losslessSteps(config: LosslessConfig): DraftStep[] {
  const tools: ToolTable = { ...DEFAULT_TOOLS, ...config.tools };
  const steps: DraftStep[] = [];
  // What takes text out comes first, so that no reference is made to a copy that goes afterwards.
  if (config.consolidateToolResults && !config.strictOnly) steps.push(repeatedCommands(tools), similarResults(tools));
  if (config.deduplicateFileReads) steps.push(duplicateReads(tools, config.keep));
  if (config.deduplicateResults) steps.push(duplicateResults(tools, config.keep));
  if (config.consolidateToolResults) steps.push(repeatedListings(tools, config.keep));
  if (config.removeObsoleteState) steps.push(obsoleteState(tools));
  return steps;
}
