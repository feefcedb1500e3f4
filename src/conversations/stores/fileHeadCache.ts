import type { FileHead } from '../readFile';
import { MAX_BEGINNING_BYTES } from './beginnings';

/** Keeps the index below 150 MB of memory, most of which the largest counted file needs. */
const MAX_CACHED_BYTES = 32 * 1024 ** 2;

/** Keeps beginnings that were read for a title until the files are read whole. */
export class FileHeadCache {
  private readonly byPath = new Map<string, FileHead>();
  private bytes = 0;

  constructor(private readonly maxBytes = MAX_CACHED_BYTES) {}

  get hasRoom(): boolean {
    return this.bytes + MAX_BEGINNING_BYTES <= this.maxBytes;
  }

  addHead(path: string, head: FileHead): void {
    this.bytes += head.bytes.length;
    this.byPath.set(path, head);
  }

  removeHead(path: string): FileHead | undefined {
    const head = this.byPath.get(path);
    if (!head) return undefined;
    this.byPath.delete(path);
    this.bytes -= head.bytes.length;
    return head;
  }
}
