// Generates docs/guide/settings.md from package.json.

/**
 * @param {import('./settingsPage.mjs').Manifest} manifest package.json
 * @param {Readonly<Record<string, string>>} words package.nls.json
 * @returns {string} the page
 */
export function renderSettingsPage({ contributes }, words) {
  const groups = contributes.configuration.toSorted((a, b) => a.order - b.order);
  const properties = Object.assign({}, ...groups.map((group) => group.properties));
  const listNamesInScope = (scope) => Object.keys(properties).filter((name) => properties[name].scope === scope);
  const getLocalizedText = (text) => String(text ?? '').replace(/^%(.*)%$/, (_, key) => words[key] ?? '');
  const tables = groups.map(({ title, properties: own }) => {
    const rows = Object.entries(own)
      .toSorted(([, a], [, b]) => Number(a.order ?? 0) - Number(b.order ?? 0))
      .map(([name, setting]) => {
        const advancedMark = setting.tags?.includes('advanced') ? ' ¹' : '';
        const text = getLocalizedText(setting.markdownDescription ?? setting.description);
        return `| \`${name}\`${advancedMark} | ${formatCell(text)} | ${formatCell(formatValues(setting))} | \`${JSON.stringify(setting.default)}\` |`;
      });
    return `## ${getLocalizedText(title)}\n\n| setting | meaning | values | default |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Settings

Made from src/settings by \`npm run manifest\`; a test compares them. **Context Condenser: Open Settings** shows all of them on
one page with help. In settings.json VS Code completes and checks them, the fields of objects too.

¹ Advanced: VS Code's own settings page shows it if you search for its ID, \`@modified\` or \`@tag:advanced\`.

${tables.join('\n')}
## Where a setting applies

Your own settings file applies in every window, a workspace's in that workspace, once you trust it ([what it may
set](privacy.md#what-a-workspace-may-set)). These belong to one machine: ${listNamesInScope('machine')
    .map((name) => `\`${name}\``)
    .join(', ')}. A window on a remote
machine (SSH, WSL, a container, code-server) reads them from that machine's settings (**Preferences: Open Remote Settings (JSON)**). The panel saves
them in the file that applies.
`;
}

/** Lists the values to choose from. The type of all other settings is visible in their default. */
function formatValues({ type, enum: names, oneOf, anyOf }) {
  if (names) return names.map((name) => `\`${name}\``).join(', ');
  return (oneOf ?? anyOf) && type !== 'string' ? 'a name, or an object' : '';
}

const formatCell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
