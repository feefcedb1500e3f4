import { isRecord } from '../../core/messages/blocks';
import { type Fields, stringifyValue } from '../text/values';

export function renderSystemText(request: Fields | undefined, foldedTexts: readonly string[]): string {
  const system = request?.['system'];
  const systemTexts = Array.isArray(system)
    ? system.map((block: unknown) => (isRecord(block) ? stringifyValue(block['text']) : stringifyValue(block)))
    : [stringifyValue(system)];
  return [...systemTexts, ...foldedTexts].filter((text) => text.trim() !== '').join('\n\n');
}
