import * as z from 'zod';
import { TOOL_KINDS, type ToolRule } from '../agents/types';

const MAX_TOOL_ROWS = 500;

const createParametersSchema = (what: string) => z.array(z.string().min(1).max(200)).max(50).optional().describe(what);

const toolRuleSchema = z
  .object({
    kind: z.enum(TOOL_KINDS).describe('What the tool does.'),
    path: createParametersSchema('Parameters that can name the file or folder, such as path or files[].path.'),
    old: createParametersSchema('Parameters with the text that an edit replaces.'),
    new: createParametersSchema('Parameters with the text that an edit puts there.'),
    content: createParametersSchema('Parameters with the whole new text of a file.'),
    patch: createParametersSchema('Parameters with a patch.'),
    pattern: createParametersSchema('Parameters with what is searched for.'),
    command: createParametersSchema('Parameters with a command line.'),
  })
  .strict()
  .transform(
    (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as unknown as ToolRule,
  );

/** The user's own rules by tool name, which override the agents' rules. */
export const ownToolsSchema = z
  .record(z.string().max(200), toolRuleSchema)
  .refine((rows) => Object.keys(rows).length <= MAX_TOOL_ROWS, { message: `has more than ${MAX_TOOL_ROWS} tools` })
  .default({})
  .describe('Rules for other agents’ tools, by tool name, ignoring case.');
