/**
 * Simulates VS Code's agent tools on an in-memory workspace, with inputs and outputs as in VS Code
 * 1.139.
 */
import type { Workspace } from '../generators/workspace';

export type AgentTool = (input: Readonly<Record<string, unknown>>) => string | Promise<string>;
export type AgentTools = Readonly<Record<string, AgentTool>>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function workspaceTools(workspace: Workspace): AgentTools {
  const relative = (path: unknown): string => text(path).slice(workspace.root.length + 1);
  return {
    read_file({ filePath, startLine, endLine }) {
      const lines = workspace.text(relative(filePath)).split('\n');
      return lines.slice(Number(startLine) - 1, Number(endLine)).join('\n');
    },
    list_dir({ path }) {
      const folder = relative(path);
      const inside = workspace.paths.filter((file) => file.startsWith(folder === '' ? '' : `${folder}/`));
      const names = inside.map((file) => {
        const [name = '', ...rest] = file.slice(folder === '' ? 0 : folder.length + 1).split('/');
        return rest.length > 0 ? `${name}/` : name;
      });
      return [...new Set(names)].join('\n');
    },
    grep_search({ query, maxResults }) {
      const matchingLines = workspace.search(new RegExp(text(query), 'i'));
      const shownMatches = matchingLines.slice(0, Number(maxResults)).map((line) => /^([^:]*):(.*)$/s.exec(line) ?? []);
      const files = new Map<string, string[]>();
      for (const [, path = '', line = ''] of shownMatches) files.set(path, [...(files.get(path) ?? []), line]);
      const textByFile = [...files].map(([path, lines]) => `${path}\n${lines.join('\n')}\n`);
      return `Found ${matchingLines.length} matches for "${text(query)}" (showing ${shownMatches.length})\n\n${textByFile.join('\n')}`;
    },
    replace_string_in_file({ filePath, oldString, newString }) {
      workspace.edit(relative(filePath), text(oldString), text(newString));
      return `The following files were successfully edited:\n${text(filePath)}\n`;
    },
    create_file({ filePath, content }) {
      workspace.write(relative(filePath), text(content));
      return `The following files were successfully edited:\n${text(filePath)}\n`;
    },
  };
}
