import { isRecord, isToolUse } from '../../core/messages/blocks';
import type { Block, ToolUseBlock } from '../../core/messages/types';
import { type Fields, readList, readString } from '../text/values';
import type { ExportLosses } from './losses';
import type { ExportTurn } from './turns';

export interface ExportedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: Fields;
}

/** All APIs accept `^[a-zA-Z0-9_-]{1,64}$`. */
const toValidToolName = (name: string): string => name.replace(/[^\w-]/g, '_').slice(0, 64) || 'tool';

const ANY_INPUT_SCHEMA: Fields = { type: 'object', additionalProperties: true };

export const toValidCall = (call: ToolUseBlock): Block => ({
  ...call,
  name: toValidToolName(call.name),
  input: isRecord(call.input) ? call.input : { input: call.input ?? null },
});

/** APIs require a declaration of every tool in the history. */
export function collectExportedTools(
  request: Fields | undefined,
  turns: readonly ExportTurn[],
  losses: ExportLosses,
): ExportedTool[] {
  const declaredTools = new Map<string, ExportedTool>();
  for (const value of request ? readList(request, 'tools') : []) {
    const tool = isRecord(value) ? parseDeclaredTool(value) : undefined;
    if (tool) declaredTools.set(tool.name, declaredTools.get(tool.name) ?? tool);
  }
  const usedNames = new Set(turns.flatMap(({ blocks }) => blocks.filter(isToolUse).map(({ name }) => name)));
  const undeclaredNames = [...usedNames].filter((name) => !declaredTools.has(name));
  losses.addLoss('tool', 'declared as taking any parameters, since theirs were not recorded', undeclaredNames.length);
  return [
    ...declaredTools.values(),
    ...undeclaredNames.map((name) => ({ name, description: undefined, schema: ANY_INPUT_SCHEMA })),
  ];
}

/**
 * Reads Anthropic's `{name, input_schema}`, OpenAI's `{type, function: {name, parameters}}`, and
 * flat `{name, parameters}`.
 */
function parseDeclaredTool(value: Fields): ExportedTool | undefined {
  const declaration = isRecord(value['function']) ? value['function'] : value;
  const name = readString(declaration, 'name');
  const schema = declaration['input_schema'] ?? declaration['parameters'];
  if (name === undefined || name === '' || !isRecord(schema)) return undefined;
  return { name: toValidToolName(name), description: readString(declaration, 'description'), schema };
}
