// docs/guide/settings.md from package.json: the names, bounds, defaults and words stand there once.

/**
 * @param {{ readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> }} configuration
 * @param {Readonly<Record<string, string>>} words package.nls.json.
 * @returns {string} the page.
 */
export function settingsPage({ properties }, words) {
  const rows = Object.entries(properties)
    .toSorted(([, a], [, b]) => Number(a.order ?? 0) - Number(b.order ?? 0))
    .map(([name, setting]) => {
      const text = String(setting.markdownDescription ?? setting.description ?? '').replace(
        /^%(.*)%$/,
        (_, key) => words[key] ?? '',
      );
      return `| \`${name}\` | ${cell(text)} | ${cell(valuesOf(setting))} | \`${JSON.stringify(setting.default)}\` |`;
    });
  return `# Settings

Made from package.json by \`node scripts/schemas.mjs\`; a test compares them. **Context Condenser: Open Settings** shows all of them on
one page with help. In settings.json VS Code completes and checks them, the fields of objects too.

| setting | meaning | values | default |
|---|---|---|---|
${rows.join('\n')}
`;
}

function valuesOf({ type, enum: names, minimum, maximum, oneOf, anyOf }) {
  if (names) return names.map((name) => `\`${name}\``).join(', ');
  if (oneOf ?? anyOf) return 'a name, or an object';
  const range = minimum !== undefined || maximum !== undefined ? ` ${minimum ?? ''} to ${maximum ?? ''}`.trimEnd() : '';
  const kind = {
    boolean: 'on or off',
    array: 'a list',
    object: 'an object',
    string: 'text',
    integer: 'whole number',
    number: 'number',
  };
  return `${kind[type] ?? ''}${range}`;
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
