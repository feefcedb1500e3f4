import type { SmartConfigInput } from '../providers/smart/config';

/** A configuration of the Smart provider under a name. */
export interface Preset {
  /** Stable; settings and strategies name presets by it. */
  readonly id: string;
  readonly name: string;
  /** What it is for, in a sentence or two. */
  readonly description: string;
  readonly config: SmartConfigInput;
}
