/** Reads what an answer reports of its tokens, on the way by: the bytes go on as they come, whatever is found in them. */
import * as zlib from 'node:zlib';
import type { Transform } from 'node:stream';
import type { Usage } from '../core/cost/usage';
import { isRecord } from '../core/messages/blocks';
import type { Wire } from './wires/wire';

/** Longer events and answers are not looked into. */
const MAX_CHARS = 16 * 1024 * 1024;

/** Everything received is passed on at once, and an answer that was cut off is no error. */
const AT_ONCE = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };

function decoderOf(encoding: string | undefined): Transform | undefined {
  switch (encoding) {
    case 'gzip':
      return zlib.createGunzip(AT_ONCE);
    case 'deflate':
      return zlib.createInflate(AT_ONCE);
    case 'br':
      return zlib.createBrotliDecompress();
    default:
      return undefined;
  }
}

/** Looks at the bytes of one answer. */
export class UsageReader {
  private readonly text = new TextDecoder();
  private readonly isStream: boolean;
  private readonly decoder: Transform | undefined;
  private readonly isReadable: boolean;
  private found: Usage | undefined;
  private rest = '';

  constructor(
    private readonly wire: Wire,
    headers: { readonly 'content-type'?: string | undefined; readonly 'content-encoding'?: string | undefined },
  ) {
    this.isStream = headers['content-type']?.includes('event-stream') === true;
    const encoding = headers['content-encoding']?.trim().toLowerCase();
    this.decoder = decoderOf(encoding);
    // An answer in another compression goes by unread; its usage is not known.
    this.isReadable = encoding === undefined || encoding === 'identity' || this.decoder !== undefined;
    this.decoder?.on('data', (chunk: Buffer) => {
      this.take(chunk);
    });
    this.decoder?.on('error', () => undefined);
  }

  push(chunk: Buffer): void {
    if (!this.isReadable) return;
    if (this.decoder) this.decoder.write(chunk);
    else this.take(chunk);
  }

  /** The last report; undefined where there was none. */
  async end(): Promise<Usage | undefined> {
    const { decoder } = this;
    // One that an error has ended tells nothing more.
    if (decoder && !decoder.destroyed) {
      await new Promise<void>((resolve) => {
        decoder.once('close', resolve);
        decoder.once('end', resolve);
        decoder.end();
      });
    }
    this.rest += this.text.decode();
    if (this.isStream) this.line(this.rest);
    else this.report(this.rest);
    return this.found;
  }

  private take(chunk: Buffer): void {
    if (this.rest.length > MAX_CHARS) return;
    this.rest += this.text.decode(chunk, { stream: true });
    if (!this.isStream) return;
    const lines = this.rest.split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line.startsWith('data:') && line.includes('sage')) this.report(line.slice('data:'.length));
  }

  private report(json: string): void {
    if (json.length > MAX_CHARS || !json.includes('sage')) return;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return;
    }
    // Gemini without `alt=sse` answers with a list of what would be events.
    for (const event of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (isRecord(event)) this.found = this.wire.usage(event, this.found);
    }
  }
}
