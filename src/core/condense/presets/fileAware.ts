/**
 * Our own preset, without a model. Outputs are shortened and cold files outlined, the oldest first; then the blocks of all
 * content that the conversation is least about go, until the target is met. What an edit quoted stays longest, for the next
 * edit will likely be near it. Measured in `docs/BENCHMARKS.md`.
 */
import { individually, overTarget, those } from './passes';
import type { Preset } from './preset';

/** Results that a call can give again, or that were told and done with; reads have passes of their own. */
const OUTPUTS = ['command', 'search', 'list', 'write', 'edit', 'other'] as const;

const outputs = (min: number) => those({ contentTypes: ['toolResults'], kinds: [...OUTPUTS], age: { min } });
const reads = (min: number) => those({ contentTypes: ['toolResults'], kinds: ['read'], age: { min } });

export const FILE_AWARE: Preset = {
  id: 'file-aware',
  name: 'File-Aware',
  description:
    'No model: old outputs are shortened, cold files keep their declarations and what was edited; then what the conversation is least about goes, until the target is met.',
  config: {
    thinking: { operation: 'suppress', keepRecent: 6 },
    passes: [
      individually(
        { id: 'outputs', name: 'Old outputs: beginning, end and errors', selection: outputs(12) },
        { toolResults: { operation: 'truncate', maxLines: 16, keep: 'both' } },
        { toolResults: 100 },
      ),
      individually(
        { id: 'cold-reads', name: 'Outline of cold files', selection: reads(12) },
        { toolResults: { operation: 'outline', coldTurns: 20, keepDeclarations: true, contextLines: 2 } },
        { toolResults: 150 },
      ),
      individually(
        {
          id: 'least-relevant',
          name: 'What the conversation is least about',
          selection: those({ contentTypes: ['toolResults', 'toolParameters'], age: { min: 2 } }),
          execution: overTarget,
        },
        { toolResults: { operation: 'thin' }, toolParameters: { operation: 'thin' } },
        { toolResults: 40, toolParameters: 40 },
      ),
    ],
  },
};
