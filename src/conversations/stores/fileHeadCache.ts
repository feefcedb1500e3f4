import type { FileHead } from '../readFile';
import { MAX_BEGINNING_BYTES } from './beginnings';

/** Keeps the index below 150 MB of memory, most of which the largest counted file needs. */
const MAX_CACHED_BYTES = 32 * 1024 ** 2;

/** Keeps beginnings that were read for a title until the files are read whole. */
export class FileHeadCache {
  private readonly headByPath = new Map<string, FileHead>();
  private cachedBytes = 0;

  constructor(private readonly maxBytes = MAX_CACHED_BYTES) {}

  get hasRoom(): boolean {
    return this.cachedBytes + MAX_BEGINNING_BYTES <= this.maxBytes;
  }

  addHead(path: string, head: FileHead): void {
    this.cachedBytes += head.bytes.length;
    this.headByPath.set(path, head);
  }

  removeHead(path: string): FileHead | undefined {
    const head = this.headByPath.get(path);
    if (!head) return undefined;
    this.headByPath.delete(path);
    this.cachedBytes -= head.bytes.length;
    return head;
  }
}
