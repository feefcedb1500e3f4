import type { FileHead } from '../readFile';
import { LARGEST_BEGINNING } from './beginnings';

/** The index must stay under 150 MB of memory, and the largest file that is counted takes most of that. */
const MAX_BYTES = 32 * 1024 ** 2;

/** Beginnings of files that were read for a title, until the files are read whole: no byte of a file is read twice. */
export class KeptHeads {
  private readonly byPath = new Map<string, FileHead>();
  private bytes = 0;

  constructor(private readonly maxBytes = MAX_BYTES) {}

  /** Whether the beginning of another file fits, however long it turns out to be. */
  get hasRoom(): boolean {
    return this.bytes + LARGEST_BEGINNING <= this.maxBytes;
  }

  keep(path: string, head: FileHead): void {
    this.bytes += head.bytes.length;
    this.byPath.set(path, head);
  }

  /** Gives it away: it is of no use a second time. */
  take(path: string): FileHead | undefined {
    const head = this.byPath.get(path);
    if (!head) return undefined;
    this.byPath.delete(path);
    this.bytes -= head.bytes.length;
    return head;
  }
}
