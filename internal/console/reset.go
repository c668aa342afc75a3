package console

import (
	"context"
	"strings"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/record"
)

// sendingTime is the time limit for sending an email.
const sendingTime = time.Minute

// askReset sends a link for a new password. The response and its time are the
// same for known and unknown emails.
func (c *Console) askReset(ctx context.Context, v *consoleRequest) (any, error) {
	var email string
	if err := v.Read(func(f httpapi.Fields) { email = strings.ToLower(f.Text("email", 1, maxEmail)) }); err != nil {
		return nil, err
	}
	if c.Mail == nil || !c.SignIn.MayAsk(email, v.from()) {
		return nothing{}, nil
	}
	cause := record.Cause{Actor: record.System, RequestID: v.ID, Address: v.From.String()}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendingTime)
	c.sending.Go(func() {
		defer cancel()
		if err := c.mailReset(ctx, cause, email); err != nil {
			c.Log.Error("password reset email not sent: check the mail settings", "request_id", cause.RequestID, "error", err)
		}
	})
	return nothing{}, nil
}

func (c *Console) mailReset(ctx context.Context, cause record.Cause, email string) error {
	link, err := c.SignIn.Reset(ctx, cause, email)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.InvalidState) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.Mail.Reset(ctx, email, link.URL, link.ExpiresAt.Time())
}
