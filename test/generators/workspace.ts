/** An in-memory folder that an agent's tools work on. */
export class Workspace {
  private readonly files = new Map<string, string>();

  /** @param root the absolute path that the agent sees. */
  constructor(readonly root: string) {}

  get paths(): readonly string[] {
    return [...this.files.keys()];
  }

  /** Returns the path that the agent's tools use. */
  absolute(path: string): string {
    return `${this.root}/${path}`;
  }

  text(path: string): string {
    const text = this.files.get(path);
    if (text === undefined) throw new Error(`no file ${path}`);
    return text;
  }

  lines(path: string): string[] {
    return this.text(path).replace(/\n$/, '').split('\n');
  }

  write(path: string, text: string): void {
    this.files.set(path, text);
  }

  /**
   * Replaces the only occurrence of `oldText`.
   * @throws Error if there is none, or several
   */
  edit(path: string, oldText: string, newText: string): void {
    const text = this.text(path);
    const oldTextIndex = text.indexOf(oldText);
    if (oldTextIndex < 0) throw new Error(`not found in ${path}: ${oldText.slice(0, 60)}`);
    if (text.indexOf(oldText, oldTextIndex + 1) >= 0)
      throw new Error(`found twice in ${path}: ${oldText.slice(0, 60)}`);
    this.files.set(path, text.slice(0, oldTextIndex) + newText + text.slice(oldTextIndex + oldText.length));
  }

  /**
   * Numbers lines as `cat -n` and Claude Code's Read do.
   * @param offset number of the first line.
   */
  numbered(path: string, offset = 1, limit = 2_000): string {
    return this.lines(path)
      .slice(offset - 1, offset - 1 + limit)
      .map((line, index) => `${String(offset + index).padStart(6)}→${line}`)
      .join('\n');
  }

  lineOf(path: string, text: string): number {
    return this.text(path)
      .slice(0, Math.max(0, this.text(path).indexOf(text)))
      .split('\n').length;
  }

  search(pattern: RegExp, folder = ''): string[] {
    return this.paths
      .filter((path) => path.startsWith(folder))
      .flatMap((path) =>
        this.lines(path).flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}:${line}`] : [])),
      );
  }
}
