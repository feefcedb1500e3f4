import { parse } from 'unbash';
import type { Slice } from '../../slice';
import {
  getProgramName,
  ShellScriptState,
  stripWrapperPrograms,
  type InlineInputText,
  type OutputRedirect,
  type SimpleCommand,
  type RunCondition,
  type ScriptWord,
} from './script';

type ParsedShellScript = ReturnType<typeof parse>;
type ShellStatement = ParsedShellScript['commands'][number];
type ShellNode = ShellStatement['command'];
type ShellCommand = Extract<ShellNode, { type: 'Command' }>;
type CommandNode = Extract<ShellNode, { type: 'Pipeline' }>['commands'][number];
type ShellWord = NonNullable<ShellCommand['name']>;
type ShellWordPart = NonNullable<ShellWord['parts']>[number];
type Redirection = ShellCommand['redirects'][number];

/** The parser is superlinear in the number of here-documents on one line; real lines have few. */
const MAX_HERE_DOCUMENTS = 64;
/** Parses `bash -c "bash -c '…'"` to this depth. */
const MAX_SHELL_NESTING = 3;

export function parseShScript(line: string, folder: ScriptWord): ShellScriptState['steps'] | undefined {
  const shell = new ShellScriptState(folder);
  return new ShScriptReader(shell, line, { start: 0, end: line.length }, 0).readScript() ? shell.steps : undefined;
}

class ShScriptReader {
  constructor(
    private readonly shell: ShellScriptState,
    private readonly line: string,
    /** Undefined if the script is escaped in the command line. */
    private readonly sourceSlice: Slice | undefined,
    private readonly nestingDepth: number,
  ) {}

  readScript(): boolean {
    if (hasManyHereDocuments(this.line)) return false;
    const script = parse(this.line);
    if (script.errors !== undefined && script.errors.length > 0) return false;
    return this.readStatements(script.commands, 'always');
  }

  /** @param when condition for the first statement; the others run in any case */
  private readStatements(statements: readonly ShellStatement[], when: RunCondition): boolean {
    return statements.every(({ command, background }, at) => {
      const condition = at === 0 ? when : 'always';
      // A background command can print at any time.
      return background === true
        ? this.addUnknownStepForSource(command, condition)
        : this.readShellNode(command, condition);
    });
  }

  private readShellNode(node: ShellNode, when: RunCondition): boolean {
    if (node.type !== 'AndOr')
      return node.type === 'Pipeline' ? this.readPipeline(node, when) : this.readCommand(node, when);
    return node.commands.every((command, at) => {
      const operator = at === 0 ? undefined : node.operators[at - 1];
      return this.readShellNode(command, operator === undefined ? when : operator === '&&' ? 'success' : 'failure');
    });
  }

  private readPipeline(node: Extract<ShellNode, { type: 'Pipeline' }>, when: RunCondition): boolean {
    const { commands, prefixes } = node;
    // `time` also prints text of its own.
    const hasOnlyNegations = prefixes.every(({ type }) => type === 'Negation');
    const [only] = commands;
    if (hasOnlyNegations && commands.length === 1 && only) return this.readCommand(only, when);
    const simpleCommands = hasOnlyNegations
      ? commands.map((command) => (command.type === 'Command' ? this.readSimpleCommand(command) : undefined))
      : [];
    const knownCommands = simpleCommands.filter((command) => command !== undefined);
    return knownCommands.length > 0 && knownCommands.length === simpleCommands.length
      ? this.shell.addStep(when, knownCommands)
      : this.addUnknownStepForSource(node, when);
  }

  private addUnknownStepForSource(
    { pos, end }: { readonly pos: number; readonly end: number },
    when: RunCondition,
  ): boolean {
    return this.shell.addUnknownStep(when, this.line.slice(pos, end));
  }

  private readCommand(node: CommandNode, when: RunCondition): boolean {
    switch (node.type) {
      case 'Command':
        return this.readSingleCommand(node, when);
      case 'BraceGroup':
        return this.readStatements(node.body.commands, when);
      case 'Subshell': {
        const restoreState = this.shell.saveState();
        const isRead = this.readStatements(node.body.commands, when);
        restoreState();
        return isRead;
      }
      case 'For':
        return this.readForLoop(node, when);
      default:
        return this.addUnknownStepForSource(node, when);
    }
  }

  private readForLoop(node: Extract<CommandNode, { type: 'For' }>, when: RunCondition): boolean {
    const { name, wordlist, body } = node;
    const words = wordlist?.map((word) => this.readWord(word));
    if (!words || words.length === 0 || words.includes(undefined) || words.length * body.commands.length > 100)
      return this.addUnknownStepForSource(node, when);
    return words.every((word, index) => {
      this.shell.assignVariable(name.value, word);
      return this.readStatements(body.commands, index === 0 ? when : 'always');
    });
  }

  private readSingleCommand(node: ShellCommand, when: RunCondition): boolean {
    const { shell } = this;
    if (!node.name) {
      for (const part of node.prefix)
        if (part.type === 'Assignment')
          shell.assignVariable(
            part.name,
            part.value.type === 'Word' && part.append !== true ? this.readWord(part.value) : undefined,
          );
      // A command that is a single unknown word may print anything; assignments print nothing.
      return node.redirects.length > 0 ? this.addUnknownStepForSource(node, when) : true;
    }
    const command = this.readSimpleCommand(node);
    const words = stripWrapperPrograms(command.words);
    const [program] = words;
    if (program === undefined) return this.addUnknownStepForSource(node, when);
    switch (getProgramName(program)) {
      case 'cd':
        shell.changeFolder(words.slice(1));
        return shell.addStep(when, [command]);
      case 'pushd':
      case 'popd':
      case 'eval':
      case 'source':
      case '.':
      case 'exec':
        return this.addUnknownStepForSource(node, when);
      case 'set':
        return words.every((word) => word !== undefined && !/^-\w*[xv]/.test(word)) && shell.addStep(when, [command]);
      case 'export':
      case 'declare':
      case 'local':
      case 'readonly':
      case 'typeset':
        for (const arg of node.args)
          if (arg.type === 'Assignment')
            shell.assignVariable(arg.name, arg.value.type === 'Word' ? this.readWord(arg.value) : undefined);
        return shell.addStep(when, [command]);
      case 'bash':
      case 'sh':
      case 'zsh':
        return this.readNestedScript(node, words, when) ?? shell.addStep(when, [command]);
      default:
        return shell.addStep(when, [command]);
    }
  }

  /** Undefined for commands other than `bash -lc '…'`. */
  private readNestedScript(node: ShellCommand, words: readonly ScriptWord[], when: RunCondition): boolean | undefined {
    const flagIndex = words.findIndex((word) => word !== undefined && /^-[a-z]*c$/.test(word));
    const scriptText = words[flagIndex + 1];
    const isOnlyScript =
      words.slice(1, flagIndex).every((word) => word?.startsWith('-')) && words.length === flagIndex + 2;
    if (flagIndex < 1 || scriptText === undefined || !isOnlyScript || node.redirects.length > 0) return undefined;
    if (this.nestingDepth >= MAX_SHELL_NESTING) return this.addUnknownStepForSource(node, when);
    const source = node.args.at(-1);
    const scriptSlice = source && this.locateTextInSource({ start: source.pos, end: source.end }, scriptText);
    const restoreState = this.shell.saveState();
    const stepCount = this.shell.steps.length;
    const isRead = new ShScriptReader(this.shell, scriptText, scriptSlice, this.nestingDepth + 1).readScript();
    restoreState();
    if (isRead) {
      const firstStep = this.shell.steps[stepCount];
      if (firstStep) this.shell.steps[stepCount] = { ...firstStep, when };
      return true;
    }
    this.shell.steps.length = stepCount;
    return this.addUnknownStepForSource(node, when);
  }

  private readSimpleCommand(node: ShellCommand): SimpleCommand {
    const words: ScriptWord[] = node.name ? [this.readWord(node.name)] : [];
    for (const arg of node.args) words.push(arg.type === 'Word' ? this.readWord(arg) : this.readAssignment(arg));
    const [program] = words;
    if (program !== undefined) words[0] = getProgramName(program);
    let inlineText: InlineInputText | undefined;
    let inputFile: ScriptWord | null = null;
    const redirects: OutputRedirect[] = [];
    for (const redirection of node.redirects) {
      if (redirection.type === 'HereDoc') inlineText = this.readHereDocument(redirection);
      else if (redirection.type === 'HereString') inlineText = this.readHereString(redirection.target);
      else if (redirection.operator === '<') inputFile = this.readWord(redirection.target);
      else redirects.push(...this.readRedirect(redirection));
    }
    return { words, inputText: inlineText, inputFile, redirects };
  }

  private readRedirect({ operator, descriptor, target }: Extract<Redirection, { type: 'Redirect' }>): OutputRedirect[] {
    const targetFile = this.readWord(target);
    const appends = operator.endsWith('>>');
    if (operator === '&>' || operator === '&>>') return [{ stream: 'both', target: targetFile, appends }];
    const descriptorNumber =
      descriptor === undefined ? 1 : descriptor.type === 'FileDescriptor' ? descriptor.value : undefined;
    // This redirects an input, or a stream that prints nothing.
    if (operator.startsWith('<') || (descriptorNumber !== 1 && descriptorNumber !== 2)) return [];
    const stream = descriptorNumber === 2 ? 'errors' : 'output';
    // Agents show errors and output together.
    if (operator === '>&' && (targetFile === '1' || targetFile === '2')) return [];
    if (operator === '>&' && (targetFile === undefined || /^(?:\d+|-)$/.test(targetFile)))
      return [{ stream, target: undefined, appends }];
    return [{ stream: operator === '>&' ? 'both' : stream, target: targetFile, appends }];
  }

  private readHereDocument({
    operator,
    delimiter,
    body,
  }: Extract<Redirection, { type: 'HereDoc' }>): InlineInputText | undefined {
    const isLiteral =
      delimiter?.quoted === true || body.parts === undefined || body.parts.every(({ type }) => type === 'Literal');
    if (!isLiteral) return undefined;
    if (operator === '<<-') return { text: body.text.replace(/^\t+/gm, ''), sourceSlice: undefined };
    // In an unquoted here-document, backslash is an escape.
    if (delimiter?.quoted !== true && body.text.includes('\\')) return undefined;
    return { text: body.text, sourceSlice: this.locateTextInSource({ start: body.pos, end: body.end }, body.text) };
  }

  private readHereString(target: ShellWord | undefined): InlineInputText | undefined {
    const text = this.readWord(target);
    return text === undefined ? undefined : { text: `${text}\n`, sourceSlice: undefined };
  }

  /** Undefined if the agent's command line has the text in another form, such as escaped. */
  private locateTextInSource({ start, end }: Slice, text: string): Slice | undefined {
    const source = this.line.slice(start, end);
    const quoteLength = source === text ? 0 : source.slice(1, -1) === text ? 1 : undefined;
    return this.sourceSlice === undefined || quoteLength === undefined
      ? undefined
      : { start: this.sourceSlice.start + start + quoteLength, end: this.sourceSlice.start + end - quoteLength };
  }

  private readAssignment(arg: Extract<ShellCommand['args'][number], { type: 'Assignment' }>): ScriptWord {
    const value = arg.value.type === 'Word' ? this.readWord(arg.value) : undefined;
    return value === undefined ? undefined : `${arg.name}=${value}`;
  }

  private readWord(word: ShellWord | undefined): ScriptWord {
    if (!word) return undefined;
    if (!word.parts) return word.value;
    let text = '';
    for (const part of word.parts) {
      const value = this.readWordPart(part, false);
      if (value === undefined) return undefined;
      text += value;
    }
    return text;
  }

  private readWordPart(part: ShellWordPart, isQuoted: boolean): ScriptWord {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return part.value;
      case 'DoubleQuoted': {
        let text = '';
        for (const innerPart of part.parts) {
          const value = this.readWordPart(innerPart, true);
          if (value === undefined) return undefined;
          text += value;
        }
        return text;
      }
      case 'SimpleExpansion':
        return this.expandVariable(part.text.slice(1), isQuoted);
      case 'ParameterExpansion':
        return part.operation === undefined && part.prefix === undefined && part.index === undefined
          ? this.expandVariable(part.parameter, isQuoted)
          : undefined;
      default:
        return undefined;
    }
  }

  /** The shell splits unquoted values at blanks and expands their wildcards. */
  private expandVariable(name: string, isQuoted: boolean): ScriptWord {
    const value = this.shell.getVariable(name);
    return value !== undefined && !isQuoted && /[\s*?[]/.test(value) ? undefined : value;
  }
}

function hasManyHereDocuments(text: string): boolean {
  let documentsInLine = 0;
  for (
    let offset = text.indexOf('<<'), newlineOffset = text.indexOf('\n');
    offset >= 0;
    offset = text.indexOf('<<', offset + 2)
  ) {
    if (newlineOffset >= 0 && newlineOffset < offset) {
      newlineOffset = text.indexOf('\n', offset);
      documentsInLine = 0;
    }
    if (++documentsInLine > MAX_HERE_DOCUMENTS) return true;
  }
  return false;
}
