import { parseArguments } from '../../conversations/formats/openai/arguments';
import type { Path } from '../../core/messages/types';
import type { StringSource } from './wire';

export function parseCallInput(
  text: string,
  place: Path,
): { readonly input: unknown; readonly strings: StringSource[] } {
  const input = parseArguments(text);
  // If the text is not JSON, `parseArguments` returns it as a single field.
  const isInvalidJson = input['invalidArguments'] === text;
  return {
    input,
    strings: [
      isInvalidJson ? { from: ['input', 'invalidArguments'], to: place } : { from: ['input'], to: place, inText: true },
    ],
  };
}
