import { parseArguments } from '../../conversations/formats/openai/arguments';
import type { Path } from '../../core/messages/types';
import type { StringSource } from './wire';

/**
 * A call's `arguments` text as the object that a tool's input has to be, and where its strings stand.
 * @param to the text's place in the body.
 */
export function callInput(text: string, to: Path): { readonly input: unknown; readonly strings: StringSource[] } {
  const input = parseArguments(text);
  // Text that is not JSON is a single field.
  const isText = input['invalidArguments'] === text;
  return {
    input,
    strings: [isText ? { from: ['input', 'invalidArguments'], to } : { from: ['input'], to, inText: true }],
  };
}
