import { Draft } from '../../draft/draft';
import { editKey } from '../../edits/edits';
import { runSteps } from '../../report/steps';
import type { ApiMessage } from '../../../messages/types';
import type { CondensationOptions, ConversationContext, StepReport } from '../../types';
import { losslessSteps } from '../lossless';
import type { SmartConfig } from './config';

/** A conversation behind its lossless prelude. */
export interface Prepared {
  readonly draft: Draft;
  readonly steps: readonly StepReport[];
}

interface Remembered extends Prepared {
  readonly key: string;
}

/**
 * The lossless prelude. Its last result is remembered by conversation: a configuration that is tried out in the panel
 * changes its passes far more often than its prelude.
 */
export class Prelude {
  private readonly remembered = new WeakMap<readonly ApiMessage[], Remembered>();

  /** @throws the signal's reason where it was aborted. */
  async run(
    { messages, counter, edits }: ConversationContext,
    { losslessPrelude }: SmartConfig,
    options: CondensationOptions,
  ): Promise<Prepared> {
    const key = JSON.stringify([losslessPrelude, options.targetTokens, edits.map((edit) => [editKey(edit), edit.id])]);
    const known = this.remembered.get(messages);
    if (known?.key === key) return { draft: known.draft.copy(), steps: known.steps };
    const draft = new Draft(messages, counter, edits);
    if (!losslessPrelude.enabled) return { draft, steps: [] };
    const { steps } = await runSteps(draft, losslessSteps(losslessPrelude.operations), options);
    this.remembered.set(messages, { key, draft: draft.copy(), steps });
    return { draft, steps };
  }
}
