import { expect, test } from "vitest";
import { explain, explainField } from "./explain";

const detail = (field: string, code: string, meta = {}) => ({ field, code, message: `${field} is wrong.`, meta });

test.each([
  [detail("budget.amount", "invalid_format"), "Enter an amount such as 150.00."],
  [detail("schedule.timezone", "invalid_value"), "Enter a time zone such as Europe/Berlin."],
  [detail("schedule.end_at", "invalid_value"), "The end must be after the start."],
  [detail("schedule.start_at", "invalid_format"), "Enter a valid date and time."],
  [detail("name", "required"), "Name is required."],
  [detail("name", "too_short", { minimum: 1 }), "Name is required."],
  [detail("description", "too_long", { maximum: 2000 }), "Enter at most 2,000 characters."],
  [detail("audience_ids", "too_many_items", { maximum: 50 }), "Choose at most 50."],
  [detail("config.part", "never_heard_of"), "config.part is wrong."],
])("%o is said with labels", (d, want) => {
  expect(explainField(d)).toBe(want);
});

test("several fields are said together, many point at the form", () => {
  const two = [detail("name", "required"), detail("budget.amount", "invalid_format")];
  expect(explain("validation_failed", "2 fields", two)).toBe("Name is required. Enter an amount such as 150.00.");
  const four = ["name", "email", "amount", "code"].map((f) => detail(f, "required"));
  expect(explain("validation_failed", "4 fields", four)).toBe("Check the highlighted fields.");
});

test("a detail without a field says more than the error", () => {
  const details = [{ code: "wrong_credentials", message: "" }];
  expect(explain("insufficient_permissions", "", details)).toBe("Email or password is incorrect.");
});

test("an error of its own keeps the server's message", () => {
  expect(explain("invalid_state", "This passkey is the only one.", [])).toBe("This passkey is the only one.");
});
