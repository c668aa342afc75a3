import { CodeXml } from "lucide-react";
import { DialogTrigger, Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { type Call, languages, snippet } from "../lib/snippet";
import { common } from "../text/common";
import { rich } from "../text/rich";
import { Button, TextLink } from "./button";
import { Code } from "./copy";
import { Dialog } from "./overlay";

export const tab =
  "cursor-default border-b-2 border-transparent px-2.5 py-1.5 text-sm text-muted outline-none data-[hovered]:text-ink data-[selected]:border-accent data-[selected]:text-ink data-[focus-visible]:ring-focus";

/** The call behind what a page shows, as code. */
export function ShowCall({ call, size = "md" }: { call: Call; size?: "sm" | "md" }) {
  return (
    <DialogTrigger>
      <Button size={size} look="quiet">
        <CodeXml aria-hidden="true" />
        {common.apiCall}
      </Button>
      <Dialog title={common.apiCallTitle} wide>
        <p className="mb-3 text-sm text-muted">
          {rich(common.apiCallHint, { keys: <TextLink href="/settings/api/keys">{common.apiKeysPath}</TextLink> })}
        </p>
        <CallCode call={call} />
      </Dialog>
    </DialogTrigger>
  );
}

export function CallCode({ call }: { call: Call }) {
  return (
    <Tabs>
      <TabList aria-label={common.language} className="mb-3 flex border-b border-line">
        {languages.map((l) => (
          <Tab key={l} id={l} className={tab}>
            {l}
          </Tab>
        ))}
      </TabList>
      {languages.map((l) => (
        <TabPanel key={l} id={l} className="outline-none">
          <Code text={snippet(call, l)} label={common.code(l)} />
        </TabPanel>
      ))}
    </Tabs>
  );
}
