/**
 * Calls no model. With a target, removes the blocks that are least likely to be needed, by weights
 * fitted to real sessions. Without one, shortens old outputs and outlines files not used recently.
 * See `docs/research/benchmarks.md`.
 */
import { createIndividualPass, EXECUTION_WHILE_OVER_TARGET, createFilterSelection } from './passes';
import type { Preset } from './preset';

/** Results of these tools can be produced again or are no longer relevant. */
const OUTPUT_TOOL_KINDS = ['command', 'search', 'list', 'write', 'edit', 'other'] as const;

const selectOutputsOlderThan = (min: number) =>
  createFilterSelection({ contentTypes: ['toolResults'], kinds: [...OUTPUT_TOOL_KINDS], age: { min } });
const selectReadsOlderThan = (min: number) =>
  createFilterSelection({ contentTypes: ['toolResults'], kinds: ['read'], age: { min } });

export const FILE_AWARE_PRESET: Preset = {
  id: 'file-aware',
  name: 'File-Aware',
  description: 'No model: what is least likely to be needed is removed first, block by block, until the target is met.',
  config: {
    thinking: { operation: 'suppress', keepRecent: 6 },
    images: { operation: 'suppress', keepRecent: 10 },
    passes: [
      createIndividualPass(
        {
          id: 'least-relevant',
          name: 'What is least likely to be needed',
          selection: createFilterSelection({
            contentTypes: ['toolResults', 'toolParameters', 'messageText'],
            age: { min: 2 },
          }),
          execution: EXECUTION_WHILE_OVER_TARGET,
        },
        {
          toolResults: { operation: 'thin' },
          toolParameters: { operation: 'thin' },
          messageText: { operation: 'thin' },
        },
        { toolResults: 36, toolParameters: 36, messageText: 36 },
      ),
      createIndividualPass(
        { id: 'outputs', name: 'Old outputs: beginning, end and errors', selection: selectOutputsOlderThan(12) },
        { toolResults: { operation: 'truncate', maxLines: 16, keep: 'both' } },
        { toolResults: 100 },
      ),
      createIndividualPass(
        { id: 'cold-reads', name: 'Outline of cold files', selection: selectReadsOlderThan(12) },
        { toolResults: { operation: 'outline', coldTurns: 20, keepDeclarations: true, contextLines: 2 } },
        { toolResults: 150 },
      ),
    ],
  },
};
