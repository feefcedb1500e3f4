/**
 * Our own preset, without a model. What can be had again goes first: outputs of commands and searches, then of file reads
 * what the conversation is least about; files that nobody touched for long before those at hand. What an edit quoted
 * stays longest, for the next edit will likely be near it. Measured in `docs/BENCHMARKS.md`.
 */
import { individually, overTarget, suppress, those } from './passes';
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
        { id: 'cold-outputs', name: 'Old outputs', selection: outputs(6), execution: overTarget },
        { toolResults: suppress },
        { toolResults: 60 },
      ),
      individually(
        {
          id: 'reads',
          name: 'Parts of files that the conversation is least about',
          selection: reads(2),
          execution: overTarget,
        },
        { toolResults: { operation: 'outline', coldTurns: 0, keepDeclarations: false, contextLines: 0 } },
        { toolResults: 50 },
      ),
      individually(
        {
          id: 'parameters',
          name: 'Long commands',
          selection: {
            type: 'custom',
            filter: { contentTypes: ['toolParameters'], kinds: ['command', 'other'], age: { min: 10 } },
          },
          execution: overTarget,
        },
        { toolParameters: { operation: 'truncate', maxChars: 200, keep: 'both' } },
        { toolParameters: 100 },
      ),
      individually(
        {
          id: 'last-outputs',
          name: 'All results but the newest',
          selection: those({ contentTypes: ['toolResults'], age: { min: 2 } }),
          execution: overTarget,
        },
        { toolResults: suppress },
        { toolResults: 50 },
      ),
      individually(
        {
          id: 'last-parameters',
          name: 'Old edits and writes',
          selection: those({ contentTypes: ['toolParameters'], age: { min: 6 } }),
          execution: overTarget,
        },
        { toolParameters: suppress },
        { toolParameters: 100 },
      ),
    ],
  },
};
