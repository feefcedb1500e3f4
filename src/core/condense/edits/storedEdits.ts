/** Reads edits that earlier versions stored in ledgers or gave to other extensions. */
import { isRecord } from '../../messages/blocks';
import { isEditOperation, getStrongestOperation, type EditOperation } from './operations';

/** Before 1.1, edits had no operation, and a block's placeholder was called `standIn`. */
export function upgradeStoredEdit(stored: unknown): unknown {
  if (!isRecord(stored)) return stored;
  const { standIn, ...edit } = stored;
  return {
    ...edit,
    ...(standIn !== undefined && edit['placeholder'] === undefined && { placeholder: standIn }),
    operation: isEditOperation(edit['operation']) ? edit['operation'] : inferOperation(edit),
  };
}

/** Infers the operation from the texts that versions before 1.1 wrote. */
function inferOperation({ kind, reason, step, strict }: Readonly<Record<string, unknown>>): EditOperation {
  if (kind === 'summary') return 'summarize';
  if (kind === 'block') return 'suppress';
  const [firstOperation, ...otherOperations] = (typeof reason === 'string' ? reason : '')
    .split(', ')
    .map((words) => OPERATION_BY_OLD_REASON.get(words));
  const knownOtherOperations = otherOperations.filter((operation) => operation !== undefined);
  if (firstOperation !== undefined && knownOtherOperations.length === otherOperations.length)
    return getStrongestOperation([firstOperation, ...knownOtherOperations]);
  if (typeof reason === 'string' && reason.startsWith('the file was neither read nor edited for ')) return 'outline';
  if (step === 'Restored references') return 'restore';
  return strict === true ? 'reference' : 'cut';
}

const OPERATION_BY_OLD_REASON: ReadonlyMap<string, EditOperation> = new Map([
  ['summarized', 'summarize'],
  ['suppressed', 'suppress'],
  ['suppressed as old', 'suppress'],
  ['truncated', 'truncate'],
  ['truncated as old', 'truncate'],
  ['left out', 'thin'],
]);
