import * as z from 'zod';
import type { SmartConfigInput } from '../config';

/** Does not check `config`, which is upgraded first and checked separately. */
export const presetSchema = z.looseObject({
  id: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must consist of letters, digits, _ and -, at most 64')
    .describe('ID by which settings and strategies refer to the preset.'),
  name: z.string().trim().min(1).max(200).describe('Name that is shown.'),
  description: z.string().max(2_000).default('').describe('Description that is shown.'),
  config: z.record(z.string(), z.unknown()).describe('A configuration of the Smart provider.'),
});

export interface Preset {
  /** Stable; settings and strategies refer to it. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly config: SmartConfigInput;
}
