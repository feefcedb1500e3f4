import type { ReactNode } from 'react';
import { getSearchSynonyms } from '../groups';
import { t } from '../l10n';
import type { SettingHandle } from '../state/useSetting';
import { usePanel } from '../state/panel';
import { matchesQuery, useSearchQuery } from '../state/search';
import { IconButton } from '../ui';
import { ProblemList } from './Problems';
import { formatFieldName, getFieldTitle } from './titles';

interface SettingRowProps {
  readonly setting: SettingHandle;
  readonly title: string;
  readonly help?: string | undefined;
  /** Problems to show; default: the saved value's problems. */
  readonly problems?: readonly string[];
  readonly keywords?: string;
  /** True if the control shows the title itself. */
  readonly isTitled?: boolean;
  /** If true, the short control is beside the text. */
  readonly isInline?: boolean;
  readonly children: ReactNode;
}

export function SettingRow({
  setting,
  title,
  help,
  problems,
  keywords,
  isTitled = false,
  isInline = false,
  children,
}: SettingRowProps): ReactNode {
  const query = useSearchQuery();
  const isRelated = query !== '' && !matchesQuery(query, [title, help]);
  if (
    isRelated &&
    !matchesQuery(query, [
      title,
      help,
      keywords,
      setting.id,
      formatFieldName(setting.id),
      getSearchSynonyms(setting.id),
    ])
  )
    return null;
  const classes = ['row', ...(setting.isChange ? ['row-set'] : []), ...(isInline ? ['row-inline'] : [])];
  return (
    <div className={classes.join(' ')} data-setting={setting.id}>
      <div className="row-title">
        {isTitled ? children : <span className="row-name">{title}</span>}
        {isRelated && <RelatedNote />}
        {setting.alsoIn && (
          <span className="row-note">
            {setting.alsoIn === 'user' ? t('also set in your user settings') : t('also set in the workspace')}
          </span>
        )}
        {setting.isOfRemote && <span className="row-note">{t('stored on the remote machine')}</span>}
        {setting.isChange && (
          <IconButton icon="reset" label={t('Reset {0}', title)} onClick={() => void setting.reset()} />
        )}
      </div>
      {help !== undefined && help !== '' && (
        <p className="row-help">
          <TextWithSettingLinks text={help} />
        </p>
      )}
      {!isTitled && <div className="row-control">{children}</div>}
      <ProblemList
        problems={[...new Set([...(problems ?? [...setting.problems, ...setting.refused]), ...setting.notReset])]}
      />
    </div>
  );
}

/** Says why a search found something that does not contain its words. */
export const RelatedNote = (): ReactNode => <span className="row-note">{t('related to “{0}”', useSearchQuery())}</span>;

/** VS Code's syntax for a link to another setting. */
const SETTING_LINK = /^`#contextCondenser\.([^#]+)#`$/;

/** Supports only `code`, **strong** and links to settings. */
function TextWithSettingLinks({ text }: { readonly text: string }): ReactNode {
  const { schemas } = usePanel().welcome;
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece, index) => {
    const setting = SETTING_LINK.exec(piece)?.[1];
    if (setting !== undefined) return <strong key={index}>{getFieldTitle(setting, schemas[setting] ?? {})}</strong>;
    if (piece.startsWith('`') && piece.endsWith('`') && piece.length > 2) {
      return <code key={index}>{piece.slice(1, -1)}</code>;
    }
    if (piece.startsWith('**') && piece.endsWith('**') && piece.length > 4) {
      return <strong key={index}>{piece.slice(2, -2)}</strong>;
    }
    return piece;
  });
}
