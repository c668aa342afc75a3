package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"fanfare/internal/audience"
	"fanfare/internal/body"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// demoAudiences are the demo's audiences. Lists have numbered members, so that
// they overlap.
var demoAudiences = []struct {
	name      string
	interests []string
	// from and to are the numbers of a list's members; targeting has none.
	from, to int
}{
	{name: "Trail runners", interests: []string{"trail running", "running shoes"}},
	{name: "Weekend hikers", interests: []string{"hiking", "camping"}},
	{name: "Newsletter readers", from: 0, to: 2400},
	{name: "Cart abandoners", from: 1800, to: 2650},
	{name: "Store openings Munich", from: 2600, to: 2640},
}

func (s Services) createAudiences(ctx context.Context, cause record.Cause) (map[string]ident.ID, error) {
	made := map[string]ident.ID{}
	for _, p := range demoAudiences {
		spec := audience.Spec{Name: p.name, Type: audience.TypeCustomerList, Tags: []string{}, Metadata: map[string]string{}}
		if p.to == 0 {
			spec.Type = audience.TypeTargeting
			spec.Definition.Targeting = &audience.Targeting{
				Countries: []string{"DE", "AT", "CH"}, Regions: []string{}, Languages: []string{"de"}, Genders: []string{}, Interests: p.interests,
				Devices: []string{}, IncludeAudienceIDs: []ident.ID{}, ExcludeAudienceIDs: []ident.ID{},
			}
		}
		d, err := s.Audiences.CreateSpec(ctx, cause, spec)
		if err != nil {
			return nil, fmt.Errorf("make demo audience %q: %w", p.name, err)
		}
		made[p.name] = d.ID()
		if p.to == 0 {
			continue
		}
		var members audience.MemberChange
		for i := p.from; i < p.to; i++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "person-%d@example.com", i))
			members.Add = append(members.Add, hex.EncodeToString(sum[:]))
		}
		sent, err := body.ValueOf(members)
		if err != nil {
			return nil, err
		}
		if _, err := s.Audiences.ChangeMembers(ctx, cause, made[p.name], record.Match{}, sent); err != nil {
			return nil, fmt.Errorf("fill demo audience %q: %w", p.name, err)
		}
	}
	return made, nil
}
