import type { ContentType } from '../../messages/types';
import type { Slice } from '../../slice';

/** A wish to take a slice out of a string as it now stands in the draft. */
export interface CutRequest extends Slice {
  /** What a marker there says; null for no marker (what was taken out follows from what stands elsewhere). */
  readonly marker: string | null;
  /** A summary of the slice, which stands in front of the marker. */
  readonly summary?: string;
}

export interface CutInfo {
  readonly contentType: ContentType;
  readonly reason: string;
  readonly strict: boolean;
}
