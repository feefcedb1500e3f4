/** Reads usage and errors from an answer that is forwarded unchanged. */
import type { Transform } from 'node:stream';
import type { Usage } from '../core/cost/usage';
import { isRecord } from '../core/messages/blocks';
import { createDecompressor, isCompressed } from './unpacking';
import type { WireFormat } from './wires/wire';

/** Events and answers of more UTF-16 units are not parsed. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/** Maximum decompressed bytes, because compressed data can expand a thousandfold. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;

/**
 * Matches events worth parsing. Quotation marks in the model's text are escaped, so text does not
 * match.
 */
const USAGE_OR_ERROR = /[uU]sage|"error"/;

export interface ReportedAnswer {
  readonly usage: Usage | undefined;
  /** An error reported within a successful answer, in the form of an error body. */
  readonly failure: string | undefined;
}

export class UsageStreamReader {
  private readonly text = new TextDecoder();
  private readonly isStream: boolean;
  private readonly decoder: Transform | undefined;
  private readonly isReadable: boolean;
  private usage: Usage | undefined;
  private failure: string | undefined;
  private pieces: string[] = [];
  private length = 0;
  private readBytes = 0;

  constructor(
    private readonly wire: WireFormat,
    headers: { readonly 'content-type'?: string | undefined; readonly 'content-encoding'?: string | undefined },
  ) {
    this.isStream = headers['content-type']?.includes('event-stream') === true;
    const encoding = headers['content-encoding'];
    this.decoder = createDecompressor(encoding);
    // Without a decoder the usage is unknown.
    this.isReadable = !isCompressed(encoding) || this.decoder !== undefined;
    this.decoder?.on('data', (chunk: Buffer) => {
      this.processChunk(chunk);
    });
    this.decoder?.on('error', () => undefined);
  }

  pushChunk(chunk: Buffer): void {
    if (!this.isReadable) return;
    if (this.decoder) {
      if (!this.decoder.destroyed) this.decoder.write(chunk);
    } else this.processChunk(chunk);
  }

  stopReading(): void {
    this.decoder?.destroy();
  }

  async finishReading(): Promise<ReportedAnswer> {
    const { decoder } = this;
    // A destroyed decoder emits nothing more.
    if (decoder && !decoder.destroyed) {
      await new Promise<void>((resolve) => {
        decoder.once('close', resolve);
        decoder.once('end', resolve);
        decoder.end();
      });
    }
    this.appendPiece(this.text.decode());
    const remainingText = this.joinPieces();
    if (this.isStream) this.readEventLine(remainingText);
    else this.parseUsage(remainingText);
    const { usage, failure } = this;
    return { usage, failure };
  }

  private processChunk(chunk: Buffer): void {
    this.readBytes += chunk.length;
    if (this.decoder && this.readBytes > MAX_UNPACKED_BYTES) {
      this.decoder.destroy();
      return;
    }
    const text = this.text.decode(chunk, { stream: true });
    let lineStart = 0;
    // An event may arrive in thousands of pieces, so this searches only the new data.
    for (let lineEnd = text.indexOf('\n'); this.isStream && lineEnd >= 0; lineEnd = text.indexOf('\n', lineStart)) {
      this.appendPiece(text.slice(lineStart, lineEnd));
      this.readEventLine(this.joinPieces());
      lineStart = lineEnd + 1;
    }
    this.appendPiece(text.slice(lineStart));
  }

  private appendPiece(piece: string): void {
    this.length += piece.length;
    if (this.length > MAX_EVENT_CHARS) this.pieces = [];
    else this.pieces.push(piece);
  }

  private joinPieces(): string {
    const { pieces } = this;
    this.pieces = [];
    this.length = 0;
    return pieces.join('');
  }

  private readEventLine(line: string): void {
    if (line.startsWith('data:')) this.parseUsage(line.slice('data:'.length));
  }

  private parseUsage(json: string): void {
    if (!USAGE_OR_ERROR.test(json)) return;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return;
    }
    // Gemini without `alt=sse` responds with a list of events.
    for (const event of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (!isRecord(event)) continue;
      this.usage = this.wire.usage(event, this.usage);
      const error = this.wire.failure(event) ?? undefined;
      if (error !== undefined) this.failure = JSON.stringify({ error });
    }
  }
}
