/** Reads what an answer reports of its tokens and of its failure, on the way by: the bytes go on as they come, whatever is found in them. */
import type { Transform } from 'node:stream';
import type { Usage } from '../core/cost/usage';
import { isRecord } from '../core/messages/blocks';
import { createDecoder, isPacked } from './unpacking';
import type { Wire } from './wires/wire';

/** Longer events and answers are not looked into. */
const MAX_CHARS = 16 * 1024 * 1024;

/** Of a packed answer, in bytes: a thousandth of that may be all that came, and unpacking must not keep anybody waiting. */
const MAX_UNPACKED = 32 * 1024 * 1024;

/** Events that are worth reading. In a text of the model the quotation marks are escaped. */
const TELLS = /[uU]sage|"error"/;

/** What an answer told of itself. */
export interface Told {
  /** The last report of its tokens; undefined where there was none. */
  readonly usage: Usage | undefined;
  /** The error that it told after all, in the form of a refusal's body; undefined where there was none. */
  readonly failure: string | undefined;
}

/** Looks at the bytes of one answer. */
export class UsageReader {
  private readonly text = new TextDecoder();
  private readonly isStream: boolean;
  private readonly decoder: Transform | undefined;
  private readonly isReadable: boolean;
  private usage: Usage | undefined;
  private failure: string | undefined;
  /** Pieces of the line that has not ended, or of the answer, and their length. */
  private pieces: string[] = [];
  private length = 0;
  /** Bytes, unpacked. */
  private taken = 0;

  constructor(
    private readonly wire: Wire,
    headers: { readonly 'content-type'?: string | undefined; readonly 'content-encoding'?: string | undefined },
  ) {
    this.isStream = headers['content-type']?.includes('event-stream') === true;
    const encoding = headers['content-encoding'];
    this.decoder = createDecoder(encoding);
    // An answer in another compression goes by unread; its usage is not known.
    this.isReadable = !isPacked(encoding) || this.decoder !== undefined;
    this.decoder?.on('data', (chunk: Buffer) => {
      this.take(chunk);
    });
    this.decoder?.on('error', () => undefined);
  }

  push(chunk: Buffer): void {
    if (!this.isReadable) return;
    if (this.decoder) {
      if (!this.decoder.destroyed) this.decoder.write(chunk);
    } else this.take(chunk);
  }

  /** Nobody waits for what is left any more. */
  stop(): void {
    this.decoder?.destroy();
  }

  async end(): Promise<Told> {
    const { decoder } = this;
    // One that an error has ended tells nothing more.
    if (decoder && !decoder.destroyed) {
      await new Promise<void>((resolve) => {
        decoder.once('close', resolve);
        decoder.once('end', resolve);
        decoder.end();
      });
    }
    this.add(this.text.decode());
    const rest = this.added();
    if (this.isStream) this.line(rest);
    else this.report(rest);
    const { usage, failure } = this;
    return { usage, failure };
  }

  private take(chunk: Buffer): void {
    this.taken += chunk.length;
    if (this.decoder && this.taken > MAX_UNPACKED) {
      this.decoder.destroy();
      return;
    }
    const text = this.text.decode(chunk, { stream: true });
    let from = 0;
    // Only what is new is looked through: an event may come in thousands of pieces.
    for (let end = text.indexOf('\n'); this.isStream && end >= 0; end = text.indexOf('\n', from)) {
      this.add(text.slice(from, end));
      this.line(this.added());
      from = end + 1;
    }
    this.add(text.slice(from));
  }

  /** Keeps a piece of a line, or of a whole answer, unless that has become too long to look into. */
  private add(piece: string): void {
    this.length += piece.length;
    if (this.length > MAX_CHARS) this.pieces = [];
    else this.pieces.push(piece);
  }

  private added(): string {
    const { pieces } = this;
    this.pieces = [];
    this.length = 0;
    return pieces.join('');
  }

  private line(line: string): void {
    if (line.startsWith('data:')) this.report(line.slice('data:'.length));
  }

  private report(json: string): void {
    if (!TELLS.test(json)) return;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return;
    }
    // Gemini without `alt=sse` answers with a list of what would be events.
    for (const event of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (!isRecord(event)) continue;
      this.usage = this.wire.usage(event, this.usage);
      const error = this.wire.failure(event) ?? undefined;
      if (error !== undefined) this.failure = JSON.stringify({ error });
    }
  }
}
