/** Which messages the selection of a pass takes, before any pass has changed them. */
import { Draft } from '../../core/condense/draft/draft';
import { chooseConfig } from '../../core/condense/providers/smart';
import { itemsOf } from '../../core/condense/providers/smart/items';
import { select } from '../../core/condense/providers/smart/selection';
import { toolTable } from '../../core/messages/tools';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import type { Held } from './held';
import type { ForecastRequest, SelectionResult } from './messages';

/** @throws Error where the configuration has no such pass (any more), or is wrong */
export function selectionOf(
  { title, messages, edits }: Held,
  { setup, pass: index }: Extract<ForecastRequest, { kind: 'selection' }>,
  counter: MessageCounter,
): SelectionResult {
  const checked = chooseConfig(setup.config, setup.presets);
  if (!checked.valid) {
    throw new Error(checked.problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  }
  const pass = checked.config.passes[index];
  if (!pass) throw new Error('There is no such pass any more.');
  const draft = new Draft(messages, counter, edits);
  const tools = toolTable(checked.config.losslessPrelude.operations.tools);
  const { zone, has } = select(draft, pass.selection, tools);
  const items = itemsOf(draft);
  const taken = messages.map(
    (_, message) => message > draft.task && message >= zone.start && message < zone.end && items(message).some(has),
  );
  return { title, taken };
}
