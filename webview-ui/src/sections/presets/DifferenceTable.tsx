import type { ReactNode } from 'react';
import type { ComparedPass, ComparedPresets, ConfigDifference } from '../../../../src/panel/protocol';
import { SideBySide, SideBySideRow } from '../../components/SideBySide';
import { t } from '../../l10n';
import { describeSettingPath, describeValue } from './differenceWords';

interface DifferenceTableProps {
  readonly compared: ComparedPresets;
  /** Names of the two configurations, in order. */
  readonly names: readonly [string, string];
}

/** Lists differences pass by pass; equal parts are only counted. */
export function DifferenceTable({ compared, names }: DifferenceTableProps): ReactNode {
  const { general, passes } = compared;
  const changedPasses = passes.filter((pass) => !isUnchangedPass(pass));
  const unchangedCount = passes.length - changedPasses.length;
  if (general.length === 0 && changedPasses.length === 0) {
    return <p role="status">{t('Both are the same.')}</p>;
  }
  return (
    <>
      <SideBySide label={t('Differences between {0} and {1}', ...names)} names={names} className="differences">
        {general.length > 0 && <DifferencesGroup title={t('For all passes')} differences={general} />}
        {changedPasses.map((pass, index) => (
          <PassDifferences key={index} pass={pass} />
        ))}
      </SideBySide>
      {unchangedCount > 0 && (
        <p className="row-help">
          {unchangedCount === 1
            ? t('1 pass is the same in both.')
            : t('{0} passes are the same in both.', unchangedCount)}
        </p>
      )}
    </>
  );
}

const isUnchangedPass = ({ first, second, differences }: ComparedPass): boolean =>
  first !== undefined && first.position === second?.position && first.name === second.name && differences.length === 0;

function PassDifferences({ pass }: { readonly pass: ComparedPass }): ReactNode {
  const { first, second, differences } = pass;
  const title = t((first ?? second)?.name ?? '');
  const positionTexts = [first, second].map((placed) =>
    placed ? t('pass {0}', placed.position) : t('has no such pass'),
  );
  const isMoved = first?.position !== second?.position;
  const isRenamed = first !== undefined && second !== undefined && first.name !== second.name;
  return (
    <DifferencesGroup title={title} differences={differences}>
      {isMoved && <SideBySideRow name={t('Place')} values={positionTexts} />}
      {isRenamed && <SideBySideRow name={t('Name')} values={[t(first.name), t(second.name)]} />}
    </DifferencesGroup>
  );
}

interface DifferencesGroupProps {
  readonly title: string;
  readonly differences: readonly ConfigDifference[];
  readonly children?: ReactNode;
}

const DifferencesGroup = ({ title, differences, children }: DifferencesGroupProps): ReactNode => (
  <tbody>
    <tr>
      <th colSpan={3} scope="rowgroup" className="difference-group">
        {title}
      </th>
    </tr>
    {children}
    {differences.map(({ path, first, second }) => (
      <SideBySideRow
        key={path.join('.')}
        name={describeSettingPath(path)}
        values={[describeValue(first), describeValue(second)]}
      />
    ))}
  </tbody>
);
