/** Simulates Claude Code's tools on a workspace. Each call comes with the real tool's answer. */
import type { Call } from './session';
import type { Workspace } from './workspace';

/** Number of lines before and after an edit that Claude Code repeats. */
const CONTEXT_LINES = 5;

export interface Todo {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly activeForm: string;
}

export class ClaudeCodeTools {
  constructor(private readonly workspace: Workspace) {}

  read(path: string, offset?: number, limit?: number): Call {
    const range = { ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) };
    return {
      tool: 'Read',
      input: { file_path: this.workspace.absolute(path), ...range },
      result: this.workspace.numbered(path, offset, limit),
    };
  }

  /**
   * Applies an edit. The answer confirms it, or repeats the lines around it, as versions before 2.1
   * did.
   */
  edit(path: string, oldText: string, newText: string, isEchoed = false): Call {
    this.workspace.edit(path, oldText, newText);
    const absolute = this.workspace.absolute(path);
    const first = Math.max(1, this.workspace.lineOf(path, newText) - CONTEXT_LINES);
    const snippet = this.workspace.numbered(path, first, newText.split('\n').length + 2 * CONTEXT_LINES);
    return {
      tool: 'Edit',
      input: { file_path: absolute, old_string: oldText, new_string: newText },
      result: isEchoed
        ? `The file ${absolute} has been updated. Here's the result of running \`cat -n\` on a snippet of the edited file:\n${snippet}`
        : `The file ${absolute} has been updated successfully.`,
    };
  }

  /** An edit that fails, because its old text isn't in the file. */
  failedEdit(path: string, oldText: string, newText: string): Call {
    return {
      tool: 'Edit',
      input: { file_path: this.workspace.absolute(path), old_string: oldText, new_string: newText },
      result: `<tool_use_error>String to replace not found in file.\nString: ${oldText}</tool_use_error>`,
      isError: true,
    };
  }

  write(path: string, text: string): Call {
    this.workspace.write(path, text);
    const absolute = this.workspace.absolute(path);
    return {
      tool: 'Write',
      input: { file_path: absolute, content: text },
      result: `File created successfully at: ${absolute}`,
    };
  }

  grep(pattern: string, path?: string, limit = 100): Call {
    const matchingLines = this.workspace.search(new RegExp(pattern), path).slice(0, limit);
    const folder = path === undefined ? {} : { path: this.workspace.absolute(path) };
    return {
      tool: 'Grep',
      input: { pattern, ...folder, output_mode: 'content', '-n': true },
      result: matchingLines.length === 0 ? 'No matches found' : matchingLines.join('\n'),
    };
  }

  glob(pattern: string, suffix: string): Call {
    const matchingPaths = this.workspace.paths.filter((path) => path.endsWith(suffix)).slice(-100);
    const result =
      matchingPaths.length === 0
        ? 'No files found'
        : matchingPaths.map((path) => this.workspace.absolute(path)).join('\n');
    return { tool: 'Glob', input: { pattern }, result };
  }

  bash(command: string, description: string, output: string, exitCode = 0): Call {
    return {
      tool: 'Bash',
      input: { command, description },
      result: exitCode === 0 ? output : `Exit code ${exitCode}\n${output}`,
      isError: exitCode !== 0,
    };
  }

  todo(todos: readonly Todo[]): Call {
    return {
      tool: 'TodoWrite',
      input: { todos },
      result:
        'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable',
    };
  }
}
