/** Edits as earlier versions wrote them: into ledgers, and into what other extensions kept. */
import { isRecord } from '../../messages/blocks';
import { isEditOperation, strongest, type EditOperation } from './operations';

/**
 * A stored edit in today's form. Before 1.1 edits didn't carry their operation, and the text in a block's place was
 * called `standIn`. Other fields are passed on; a value that is no object too.
 */
export function currentEdit(stored: unknown): unknown {
  if (!isRecord(stored)) return stored;
  const { standIn, ...edit } = stored;
  return {
    ...edit,
    ...(standIn !== undefined && edit['placeholder'] === undefined && { placeholder: standIn }),
    operation: isEditOperation(edit['operation']) ? edit['operation'] : operationBefore(edit),
  };
}

/**
 * The operation of an edit from before 1.1, told from the words that its step wrote. The words are those of that time and
 * have no other reader.
 */
function operationBefore({ kind, reason, step, strict }: Readonly<Record<string, unknown>>): EditOperation {
  if (kind === 'summary') return 'summarize';
  if (kind === 'block') return 'suppress';
  const [first, ...others] = (typeof reason === 'string' ? reason : '').split(', ').map((words) => WORDS.get(words));
  const known = others.filter((operation) => operation !== undefined);
  if (first !== undefined && known.length === others.length) return strongest([first, ...known]);
  if (typeof reason === 'string' && reason.startsWith('the file was neither read nor edited for ')) return 'outline';
  if (step === 'Restored references') return 'restore';
  return strict === true ? 'reference' : 'cut';
}

/** A reason was a list of these, one for each operation at the place. */
const WORDS: ReadonlyMap<string, EditOperation> = new Map([
  ['summarized', 'summarize'],
  ['suppressed', 'suppress'],
  ['suppressed as old', 'suppress'],
  ['truncated', 'truncate'],
  ['truncated as old', 'truncate'],
  ['left out', 'thin'],
]);
